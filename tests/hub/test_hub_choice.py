"""Which model of a repository: cases from the habits of those who publish GGUF files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import ModelError
from ds4.hub.choice import Chosen, choose
from ds4.hub.models import HubFile, models_in
from ds4.hub.quant import PREFERENCE, label_in
from ds4.hub.reference import HubReference, parse_reference


def files(*names: str) -> list[HubFile]:
    return [HubFile(name, size=10) for name in names]


def take(text: str, *names: str) -> Chosen:
    return choose(files(*names), parse_reference(text))


def taken(text: str, *names: str) -> str:
    return take(text, *names).files[0].path


def refused(text: str, *names: str) -> str:
    with pytest.raises(ModelError) as error:
        take(text, *names)
    assert "\n" not in error.value.message
    return error.value.message


MANY = (
    "README.md",
    "m-BF16.gguf",
    "m-IQ4_XS.gguf",
    "m-Q2_K.gguf",
    "m-Q4_K_M.gguf",
    "m-Q4_K_S.gguf",
    "m-Q8_0.gguf",
)


def test_four_bits_come_first() -> None:
    chosen = take("hf:o/m", *MANY)
    assert (chosen.files[0].path, chosen.label) == ("m-Q4_K_M.gguf", "Q4_K_M")
    assert chosen.others == ("BF16", "IQ4_XS", "Q2_K", "Q4_K_S", "Q8_0")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("m-Q8_0.gguf", "m-Q2_K.gguf", "m-F16.gguf"), "m-Q8_0.gguf"),
        (("m-Q2_K.gguf", "m-BF16.gguf"), "m-Q2_K.gguf"),
        (("m-q5_k_m.gguf", "m-fp16.gguf"), "m-q5_k_m.gguf"),
        (("m-q4.gguf", "m-fp16.gguf"), "m-q4.gguf"),
        (("m.Q4_0.gguf", "m.Q4_K_S.gguf"), "m.Q4_K_S.gguf"),
        (("m-UD-Q4_K_XL.gguf", "m-Q4_K_M.gguf"), "m-Q4_K_M.gguf"),
        (("m-UD-Q4_K_M.gguf", "m-Q4_K_M.gguf"), "m-Q4_K_M.gguf"),
        (("m-UD-Q4_K_XL.gguf", "m-Q8_0.gguf"), "m-UD-Q4_K_XL.gguf"),
        (("gpt-oss-20b-mxfp4.gguf",), "gpt-oss-20b-mxfp4.gguf"),
        (("only one.gguf",), "only one.gguf"),
    ],
)
def test_what_is_taken_when_nobody_chose(names: tuple[str, ...], expected: str) -> None:
    assert taken("hf:o/m", *names) == expected
    assert taken("hf:o/m", *reversed(names)) == expected


def test_a_quantisation_by_its_name() -> None:
    assert taken("hf:o/m:q8_0", *MANY) == "m-Q8_0.gguf"
    assert taken("hf:o/m:Q4_K_S", *MANY) == "m-Q4_K_S.gguf"
    assert taken("hf:o/m:Q4_K_XL", "m-UD-Q4_K_XL.gguf", "m-Q4_K_M.gguf") == "m-UD-Q4_K_XL.gguf"
    assert taken("hf:o/m:Q4_K_M", "m-UD-Q4_K_M.gguf", "m-Q4_K_M.gguf") == "m-Q4_K_M.gguf"
    assert taken("hf:o/m:UD-Q4_K_M", "m-UD-Q4_K_M.gguf", "m-Q4_K_M.gguf") == "m-UD-Q4_K_M.gguf"
    assert (
        taken("hf:o/m:chat-v2", "m-IQ2XXS-chat-v2.gguf", "m-Q4KExperts-chat.gguf") == "m-IQ2XXS-chat-v2.gguf"
    )


def test_a_part_of_a_name_is_not_a_name() -> None:
    assert refused("hf:o/m:Q4_K", *MANY) == (
        "hf:o/m:Q4_K: the repository has no Q4_K; it has BF16, IQ4_XS, Q2_K, Q4_K_M, Q4_K_S, Q8_0"
    )


def test_a_file_by_its_path() -> None:
    assert taken("hf:o/m/m-Q2_K.gguf", *MANY) == "m-Q2_K.gguf"
    assert "no such file; it has m-BF16.gguf, " in refused("hf:o/m/m-Q3_K.gguf", *MANY)
    assert "no such file" in refused("hf:o/m/README.gguf", *MANY)


SPLIT = tuple(f"Q8_0/m-Q8_0-0000{n}-of-00003.gguf" for n in (3, 1, 2))


@pytest.mark.parametrize("text", ["hf:o/m", "hf:o/m:Q8_0", "hf:o/m/Q8_0/m-Q8_0-00002-of-00003.gguf"])
def test_a_split_model_is_all_its_parts_in_order(text: str) -> None:
    chosen = take(text, "m-F32.gguf", *SPLIT)
    assert [file.path for file in chosen.files] == sorted(SPLIT)
    assert chosen.size == 30


def test_a_split_model_with_a_hole() -> None:
    message = refused("hf:o/m:Q8_0", *SPLIT[:2])
    assert message.endswith("Q8_0/m-Q8_0 has 3 parts, of which the repository lacks 2")


def test_a_file_name_that_lies_about_its_parts() -> None:
    message = refused("hf:o/m", "m-Q8_0-00001-of-99999.gguf")
    assert message.endswith(
        "has 99999 parts, of which the repository lacks 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 99986 more"
    )


@pytest.mark.parametrize(
    "name", ["../m-Q4_K_M.gguf", "a/../../m-Q4_K_M.gguf", "m\x1b[2J-Q4_K_M.gguf", "/m-Q4_K_M.gguf"]
)
def test_names_that_nobody_should_use_do_not_count(name: str) -> None:
    assert taken("hf:o/m", name, "m-Q8_0.gguf") == "m-Q8_0.gguf"
    assert name not in refused("hf:o/m", name)


def test_a_projector_is_never_the_model() -> None:
    names = ("mmproj-m-Q4_K_M.gguf", "m-Q8_0.gguf")
    assert taken("hf:o/m", *names) == "m-Q8_0.gguf"
    assert "has no Q4_K_M; it has Q8_0" in refused("hf:o/m:Q4_K_M", *names)
    assert "holds an image projector" in refused("hf:o/m/mmproj-m-Q4_K_M.gguf", *names)
    assert refused("hf:o/m", "mmproj-F16.gguf", "a.txt") == "hf:o/m: this repository holds no GGUF model"


@pytest.mark.parametrize(
    "companion", ["m-MTP-Q4_K_M.gguf", "m-draft-Q4_K_M.gguf", "eagle3-Q4_K_M.gguf", "m.imatrix.gguf"]
)
def test_a_companion_is_taken_only_by_its_file(companion: str) -> None:
    names = (companion, "m-Q8_0.gguf")
    assert taken("hf:o/m", *names) == "m-Q8_0.gguf"
    assert taken(f"hf:o/m/{companion}", *names) == companion
    # Alone, as in a cache into which nothing else was downloaded yet.
    assert "choose a file" in refused("hf:o/m", companion)


def test_words_of_the_repository_make_no_companion() -> None:
    assert taken("hf:o/m-MTP-GGUF", "m-MTP-Q8_0.gguf", "m-MTP-Q4_K_M.gguf") == "m-MTP-Q4_K_M.gguf"


def test_a_model_made_with_an_imatrix_is_a_model() -> None:
    name = "DeepSeek-V4-Flash-IQ2XXS-w2Q2K-AProjQ8-SExpQ8-OutQ8-chat-v2-imatrix.gguf"
    assert taken("hf:o/m", name, "DeepSeek-V4-Flash-MTP-Q4K-Q8_0-F32.gguf") == name


def test_no_guess_between_equals() -> None:
    message = refused("hf:o/m", "a-Q4_K_M.gguf", "b-Q4_K_M.gguf", "b-Q8_0.gguf")
    assert message == "hf:o/m: choose a file with hf:o/m/FILE.gguf: a-Q4_K_M.gguf, b-Q4_K_M.gguf"
    assert "choose a file" in refused("hf:o/m:Q4_K_M", "a-Q4_K_M.gguf", "b-Q4_K_M.gguf")
    assert "first.gguf, second.gguf" in refused("hf:o/m", "first.gguf", "second.gguf")


def test_a_long_list_is_cut() -> None:
    assert refused("hf:o/m", *(f"{n:02}.gguf" for n in range(20))).endswith("11.gguf and 8 more")


def test_every_preference_is_a_label_that_names_spell() -> None:
    for label in PREFERENCE:
        assert label_in(f"m-{label}") == label
        assert label_in(f"{label}/m.{label.lower()}") == label
    assert len(set(PREFERENCE)) == len(PREFERENCE)


NAMES = st.from_regex(
    r"[a-z]{1,3}-(Q4_K_M|Q8_0|IQ2XXS|mmproj|MTP|F16)(-0000[12]-of-00002)?\.gguf", fullmatch=True
)
REFERENCES = st.sampled_from(["hf:o/m", "hf:o/m:Q4_K_M", "hf:o/m:Q8_0", "hf:o/m/a-Q8_0.gguf"]).map(
    parse_reference
)


@given(st.lists(NAMES, unique=True, max_size=8), REFERENCES)
def test_a_choice_is_whole_and_does_not_depend_on_the_order(
    names: list[str], reference: HubReference
) -> None:
    given_files = files(*names)
    try:
        chosen = choose(given_files, reference)
    except ModelError:
        with pytest.raises(ModelError):
            choose(given_files[::-1], reference)
        return
    assert choose(given_files[::-1], reference) == chosen
    (model,) = models_in(chosen.files)
    assert (model.files, model.missing, model.projector) == (chosen.files, (), False)
    assert set(chosen.files) <= set(given_files)
