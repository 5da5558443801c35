"""`hf:...` as typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import OptionError
from ds4.hub.reference import HubReference, parse_reference

REPO = "ggml-org/gemma-3-4b-it-GGUF"


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        (f"hf:{REPO}", HubReference(REPO)),
        (f"hf://{REPO}", HubReference(REPO)),
        (f"hf:{REPO}:Q4_K_M", HubReference(REPO, quant="Q4_K_M")),
        (f"hf:{REPO}:UD-IQ1_S", HubReference(REPO, quant="UD-IQ1_S")),
        (f"hf:{REPO}/m.gguf", HubReference(REPO, file="m.gguf")),
        (
            f"hf:{REPO}/BF16/m v2-00001-of-00002.GGUF",
            HubReference(REPO, file="BF16/m v2-00001-of-00002.GGUF"),
        ),
        (f"hf:{REPO}@main", HubReference(REPO)),
        (f"hf:{REPO}@v1.2:Q8_0", HubReference(REPO, "v1.2", quant="Q8_0")),
        (f"hf:{REPO}@0a1b/x/m.gguf", HubReference(REPO, "0a1b", file="x/m.gguf")),
    ],
)
def test_the_forms(text: str, reference: HubReference) -> None:
    assert parse_reference(text) == reference
    assert parse_reference(str(reference)) == reference


@pytest.mark.parametrize(
    "text",
    [
        "hf:",
        "hf:owner",
        "hf:owner/",
        "hf:/repo",
        "hf:owner/repo:",
        "hf:owner/repo@",
        "hf:owner/repo@a/b@c.gguf:Q4",
        "hf:owner/repo:Q4/m.gguf",
        "hf:owner/repo/m.gguf:Q4",
        "hf:owner/re--po",
        "hf:owner/re..po",
        "hf:../repo",
        "hf:owner/repo ",
        "hf:öwner/repo",
        "owner/repo",
        "HF:owner/repo",
        "hf:owner/repo\n",
    ],
)
def test_other_forms_are_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(OptionError, match="a model on the hub is given as hf:OWNER/REPO, "):
        parse_reference(text)


@pytest.mark.parametrize(
    "file", ["m", "m.safetensors", "a/", "../m.gguf", "a//m.gguf", "a/./m.gguf", "m\x1b.gguf"]
)
def test_a_file_that_is_no_gguf(file: str) -> None:
    with pytest.raises(OptionError, match=r"must be the path of a \.gguf file"):
        parse_reference(f"hf:owner/repo/{file}")


@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(["", "hf:", "hf:a/b", "hf:a/b@c", "hf:a/b/"]),
)
def test_any_text_is_a_reference_or_refused(tail: str, head: str) -> None:
    try:
        reference = parse_reference(head + tail)
    except OptionError:
        return
    assert parse_reference(str(reference)) == reference
    assert reference.quant is None or reference.file is None
    assert ".." not in (reference.file or "").split("/")
