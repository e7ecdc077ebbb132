"""Text without spaces between words, end to end: embedded, encoded, mined and translated."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.files import read_vectors
from muse.normalise import normalise
from muse.procrustes import procrustes
from muse.space import SideToSave, save_space
from muse.vectors import Vectors
from tests.support.command import Command
from tests.support.spaces import PROVENANCE

# By subject: school, illness, food, travel. The words of line i are translations of one another.
ENGLISH = [
    "teacher pupil school book exam homework classroom pencil",
    "doctor nurse patient medicine surgery cold body blood",
    "apple banana milk bread rice egg fish chicken",
    "train car station ticket street boat bus bridge",
]
OTHERS = {
    "zh": [
        "老师 学生 学校 课本 考试 作业 教室 铅笔",
        "医生 护士 病人 药品 手术 感冒 身体 血液",
        "苹果 香蕉 牛奶 面包 米饭 鸡蛋 鲤鱼 鸡肉",
        "火车 汽车 车站 车票 街道 轮船 地铁 桥梁",
    ],
    "ja": [
        "先生 学生 学校 教科書 試験 宿題 教室 鉛筆",
        "医者 看護婦 患者 薬 手術 風邪 体 血液",
        "林檎 バナナ 牛乳 パン 御飯 卵 魚 鶏肉",
        "電車 自動車 駅 切符 道路 船 バス 橋",
    ],
    "th": [
        "ครู นักเรียน โรงเรียน หนังสือ สอบ การบ้าน ห้องเรียน ดินสอ",
        "หมอ พยาบาล คนไข้ ยา ผ่าตัด หวัด ร่างกาย เลือด",
        "แอปเปิล กล้วย นม ขนมปัง ข้าว ไข่ ปลา ไก่",
        "รถไฟ รถยนต์ สถานี ตั๋ว ถนน เรือ รถเมล์ สะพาน",
    ],
}
LINES, LENGTH = 1_200, 6
EMBED = ["--dim", "12", "--epochs", "8", "--min-count", "5", "--threads", "1", "--quiet"]


def sentences(subjects: list[str], between: str, seed: int, count: int) -> list[str]:
    """Lines of words of one subject each, in turn."""
    rng = random.Random(seed)
    words = [subject.split() for subject in subjects]
    return [between.join(rng.choices(words[line % len(words)], k=LENGTH)) for line in range(count)]


def side(folder: Path, language: str, words: list[str], onto: torch.Tensor | None) -> SideToSave:
    """The words of vectors that were trained, rotated onto the rows of their translations."""
    found = read_vectors(folder / f"{language}.vec", language=language)
    assert set(words) <= set(found.words), set(words) - set(found.words)
    rows, fitted = normalise(found.matrix[[found.index[word] for word in words]], ("unit", "centre", "unit"))
    mapping = None if onto is None else procrustes(torch.from_numpy(rows), onto).numpy()
    return SideToSave(Vectors(language, words, rows), fitted, mapping)


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_text_without_spaces_is_embedded_encoded_mined_and_translated(
    muse: Command, here: Path, language: str
) -> None:
    for code, subjects, between in (("en", ENGLISH, " "), (language, OTHERS[language], "")):
        text = sentences(subjects, between, 0, LINES)
        Path(f"text.{code}").write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
        ended = muse("embed", f"text.{code}", "--lang", code, "--out", f"{code}.vec", *EMBED)
        assert (ended.code, "spaces" in ended.err) == (0, False), ended.err
    english, words = (" ".join(subjects).split() for subjects in (ENGLISH, OTHERS[language]))
    pivot = side(here, "en", english, None)
    other = side(here, language, words, torch.from_numpy(pivot.vectors.matrix))
    save_space("space", {"en": pivot, language: other}, pivot="en", provenance=PROVENANCE)

    # Parallel sentences: the words of a line are the translations of those of the other.
    lines = {
        code: sentences(s, b, 1, 40)
        for code, s, b in (("en", ENGLISH, " "), (language, OTHERS[language], ""))
    }
    for code, text in lines.items():
        Path(f"new.{code}").write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    encoded = muse(
        "encode", "space", "--lang", language, "--input", f"new.{language}", "--out", "x.npy", "--json"
    )
    assert (encoded.json["unknown"], encoded.json["tokens"]) == (0, 40 * LENGTH)
    assert np.load("x.npy").any(axis=1).all()
    arguments = ["--source", f"new.{language}", "--target", "new.en", "--out", "mined.tsv"]
    mined = muse("mine", "space", "--src-lang", language, "--tgt-lang", "en", *arguments)
    assert mined.code == 0, mined.err
    pairs = [line.split("\t")[1:] for line in Path("mined.tsv").read_text(encoding="utf-8").splitlines()]
    right = [lines[language].index(source) % 4 == lines["en"].index(target) % 4 for source, target in pairs]
    assert len(right) >= 10
    assert np.mean(right) > 0.5  # by chance a quarter
    translated = muse("translate", "space", "--src", language, stdin="\n".join(lines[language]) + "\n")
    assert all(len(line.split()) == LENGTH for line in translated.out.splitlines())
    back = muse("translate", "space", "--src", "en", "--tgt", language, stdin="\n".join(lines["en"]) + "\n")
    assert " " not in back.out
