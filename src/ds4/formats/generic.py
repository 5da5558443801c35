"""No known format: plain labels, no special tokens. For base models and vocabularies nobody knows."""

from ds4.formats.family import Family

GENERIC = Family(
    name="generic",
    archs=(),
    bos=None,
    eos=None,
    control=(),
    markup=(),
    template="labels",
)
