"""The formats of other programs, in the order in which a file is tried."""

from muse.dictionary_formats.articles import DICTD, KINDLE, STARDICT, TAB_FILE
from muse.dictionary_formats.pair_lines import BICLEANER, DICT_CC, HUNALIGN, LEX_E2F, LEX_F2E
from muse.dictionary_formats.wiktionary import KAIKKI
from muse.dictionary_formats.xml_files import TBX, TEI, TMX

FORMATS = (
    STARDICT, DICTD, KINDLE, TEI, TMX, TBX, KAIKKI, TAB_FILE, DICT_CC, LEX_F2E, LEX_E2F, BICLEANER, HUNALIGN
)  # fmt: skip
