"""No known format: plain labels, no special tokens. For base models and vocabularies nobody knows."""

from ds4.formats.family import Family

TEMPLATE = r"""
{%- for m in messages -%}
  {{- m.role | capitalize + ': ' + (m.content or '') + '\n\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- 'Assistant:' -}}
{%- endif -%}
"""

GENERIC = Family(
    name="generic",
    archs=(),
    bos=None,
    eos=None,
    control=(),
    markup=(),
    template=TEMPLATE,
)
