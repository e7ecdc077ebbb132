"""Languages: the code of a language that the files of others name in a word, or in a longer code.

Headers of tables have French, fr, FRA or fr-FR, XML has xml:lang, and names of files have eng-fra or f2e.
"""

import re
from functools import cache
from itertools import pairwise

Languages = tuple[str, str]  # of the source and of the target
# Of each language the two-letter code, longer codes, the name in English, the language's own names, and those
# that large neighbours give it. langcodes lacks the Chinese, Japanese and Korean ones, and brings 31 MB.
_NAMES = """
af afr afrikaans; am amh amharic; ar ara arb arabic arabe arabisch العربية عربي; az aze azj azerbaijani
azərbaycanca; be bel belarusian; bg bul bulgarian български; bn ben bengali bangla বাংলা; br bre
breton brezhoneg; bs bos bosnian bosanski; ca cat catalan català; cs ces cze czech čeština česky; cy
cym wel welsh cymraeg; da dan danish dansk; de deu ger german deutsch allemand alemán alemão tedesco
duits tyska tysk немецкий niemiecki ドイツ語 德语; el ell gre greek ελληνικά; en eng english anglais
englisch inglés inglese inglês engels engelska engelsk английский angielski 英語 英语; eo epo esperanto;
es spa spanish español castellano espagnol spanisch spagnolo espanhol spaans spanska spansk
испанский hiszpański スペイン語 西班牙语; et est ekk estonian eesti; eu eus baq basque euskara; fa fas per pes
persian farsi فارسی; fi fin finnish suomi; fo fao faroese; fr fra fre french français französisch
francés francese francês frans franska fransk французский francuski フランス語 法语; ga gle irish gaeilge;
gd gla gaelic gàidhlig; gl glg galician galego; gu guj gujarati; ha hau hausa; he iw heb hebrew עברית;
hi hin hindi हिन्दी हिंदी; hr hrv scr croatian hrvatski; hu hun hungarian magyar; hy hye arm armenian;
id ind indonesian; ig ibo igbo; is isl ice icelandic íslenska; it ita italian italiano italien
italienisch italiaans italienska итальянский włoski イタリア語 意大利语; ja jpn japanese 日本語 japonais
japanisch японский japonés giapponese 日语; ka kat geo georgian; kk kaz kazakh; km khm khmer; kn kan
kannada; ko kor korean 한국어; ku kur kmr kurdish kurdî; ky kir kyrgyz; la lat latin; lb ltz luxembourgish;
lo lao laotian; lt lit lithuanian lietuvių; lv lav lvs latvian latviešu; mg mlg plt malagasy; mk mkd mac
macedonian; ml mal malayalam; mn mon khk mongolian; mr mar marathi; ms msa may zsm malay; mt mlt maltese; my
mya bur burmese; ne nep npi nepali; nl nld dut dutch nederlands holländska néerlandais niederländisch;
no nor nb nob nn nno norwegian norsk; oc oci occitan; om orm oromo; pa pan punjabi; pl pol polish polski
polnisch polonais польский; ps pus pbt pashto; pt por portuguese português portugais portugiesisch
portugués portoghese португальский; qu que quechua; ro ron rum romanian română; ru rus russian
русский russe russisch ryska russisk rosyjski ruso russo ロシア語 俄语; rw kin kinyarwanda; sa san
sanskrit; si sin sinhala; sk slk slo slovak slovenčina; sl slv slovene slovenian slovenščina; so som
somali; sq sqi alb albanian shqip; sr srp scc serbian српски srpski; sv swe swedish svenska schwedisch
suédois шведский; sw swa swh swahili kiswahili; ta tam tamil; te tel telugu; tg tgk tajik; th tha
thai ไทย; ti tir tigrinya; tk tuk turkmen; tl tgl fil tagalog; tr tur turkish türkçe; tt tat tatar; ug
uig uyghur; uk ukr ukrainian українська; ur urd urdu اردو; uz uzb uzn uzbek; vi vie vietnamese; wo wol
wolof; xh xho xhosa; yi ji yid ydd yiddish; yo yor yoruba; zh zho chi cmn chinese mandarin 中文 chinois
chinesisch китайский chino cinese 中国語 汉语 漢語; zu zul zulu
"""
_RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he ks pnb ps sd syr ug ur yi".split())
_CAPITAL_NOUNS = ("de", "lb")
_ROWS = [row.split() for row in _NAMES.split(";")]
_CODES = {name: row[0] for row in _ROWS for name in row}
_ENGLISH = {row[0]: next(name for name in row if len(name) > 3).title() for row in _ROWS}


def english_name(code: str) -> str:
    """The English name of a language by its code, with the code where that says more; else the code.

    >>> english_name("fr"), english_name("zh-Hant"), english_name("novels")
    ('French', 'Chinese (zh-Hant)', 'novels')
    """
    name = _ENGLISH.get(language_code(code))
    if name is None:
        return code
    return name if code.casefold() in _CODES else f"{name} ({code})"


@cache
def language_code(name: str) -> str:
    """The two-letter code of a language by its code or name; else what stands before - or _, in lower case.

    >>> [language_code(name) for name in ("fra_Latn", "en-GB", "German", "español", "xx")]
    ['fr', 'en', 'de', 'es', 'xx']
    """
    whole = name.casefold()
    first = re.split(r"[_-]", whole)[0]
    return _CODES.get(whole) or _CODES.get(first, first)


def named_language(name: str) -> str | None:
    """The two-letter code of a language that is named by its code or name; None for any other word.

    >>> named_language("French"), named_language("roi")
    ('fr', None)
    """
    code = language_code(name)
    return code if code in _CODES else None


def is_name(word: str) -> bool:
    """Whether a word is the name of a language, not only a code, which in another language may be a word."""
    return word.casefold() in _CODES and not (word.isascii() and len(word) <= 3)


def languages_of_file(name: str) -> Languages:
    """The languages that the name of a dictionary begins with; "" for each that it has not.

    >>> [languages_of_file(name) for name in ("eng-fra.tei", "freedict-fra-eng", "words.tei")]
    [('eng', 'fra'), ('fra', 'eng'), ('', '')]
    """
    found = re.match(r"(?:freedict-)?([a-z]{2,3})-([a-z]{2,3})(?![a-z])", name)
    return (found[1], found[2]) if found else ("", "")


def languages_of_title(title: str) -> Languages | None:
    """The languages that the title of a dictionary names beside one another; None without them.

    >>> languages_of_title("English-French FreeDict Dictionary"), languages_of_title("Français → anglais")
    (('en', 'fr'), ('fr', 'en'))
    >>> languages_of_title("A Dictionary of English")
    """
    words = re.findall(r"[^\W\d_]+|[^\w\s]+", title)
    named = [(place, code) for place, word in enumerate(words) if (code := named_language(word))]
    for (place, one), (after, other) in pairwise(named):
        between = " ".join(words[place + 1 : after]).casefold()
        plain = is_name(words[place]) and is_name(words[after])
        if (plain and between in ("", "to", "into")) or re.fullmatch(r"[-\u2013\u2014\u2192<>=/]+", between):
            return one, other
    return None


def writes_right_to_left(language: str) -> bool:
    """Whether a language is written from right to left, by its code or name.

    >>> writes_right_to_left("arb"), writes_right_to_left("uz-Arab"), writes_right_to_left("fr")
    (True, True, False)
    """
    return language_code(language) in _RIGHT_TO_LEFT or language.casefold().endswith(("arab", "hebr"))


def capitalises_nouns(language: str) -> bool:
    """Whether every noun of a language is written with a capital."""
    return language_code(language) in _CAPITAL_NOUNS


def are_reversed(named: Languages, wanted: Languages | None) -> bool:
    """Whether languages that a file names are those wanted, the target first.

    >>> are_reversed(("eng", "French"), ("fr", "en")), are_reversed(("eng", "fra"), ("en", "fr"))
    (True, False)
    """
    if wanted is None or one_language(wanted):
        return False
    return (*map(language_code, named),) == (*map(language_code, wanted[::-1]),)


def one_language(languages: Languages) -> bool:
    """Whether both are the same language, however it is written; Norwegian is two.

    >>> one_language(("eng", "English")), one_language(("en", "fr")), one_language(("nno", "nob"))
    (True, False, False)
    """
    one, other = languages
    apart = one != other and {one, other} <= {"nb", "nob", "nn", "nno"}
    return language_code(one) == language_code(other) and not apart


def target_comes_first(name: str, languages: Languages | None) -> bool:
    """Whether a name is that of a list whose first column is the target.

    Moses writes the translation first, then the word: lex.f2e goes from f, its source, to e. So does
    bicleaner, whose dict-en.gz is of English words.

    >>> target_comes_first("lex.f2e", None), target_comes_first("lex.e2f.gz", None)
    (True, False)
    >>> [target_comes_first("dict-fr.gz", languages) for languages in (("fr", "en"), ("en", "fr"))]
    [True, False]
    """
    wanted = None if languages is None else tuple(map(language_code, languages))
    if found := re.search(r"(?:^|[._-])([a-z]{1,3})2([a-z]{1,3})(?:[._-]|$)", name.casefold()):
        one, two = (language_code(found[side]) for side in (1, 2))
        if wanted is not None and {one, two} & set(wanted):
            return one == wanted[0] or two == wanted[1]
        return (found[1], found[2]) != ("e", "f")
    if found := re.match(r"dict[._-]([a-z]{2,3})(?:\.|$)", name.casefold()):
        return wanted is None or language_code(found[1]) != wanted[1]
    return False
