"""GLM 5.2.

    [gMASK]<sop><|system|>text<|user|>question<|assistant|><think>reasoning</think>answer<|user|>...

No end marker: a turn ends where the next role marker begins, so sampling one ends an answer.
Reasoning before the last user turn is dropped and leaves a lone </think>.
"""

from ds4.formats.family import Family

TEMPLATE = r"""
{{- '[gMASK]<sop>' -}}
{%- set thinks = enable_thinking is not defined or enable_thinking is none or enable_thinking -%}
{%- set ns = namespace(last=-1) -%}
{%- for m in messages -%}
  {%- if m.role not in ['system', 'developer', 'assistant'] -%}
    {%- set ns.last = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{%- for m in messages -%}
  {%- if m.role == 'assistant' -%}
    {{- '<|assistant|>' -}}
    {%- if thinks and loop.index0 > ns.last -%}
      {{- '<think>' + (m.reasoning_content or '') -}}
    {%- endif -%}
    {{- '</think>' -}}
  {%- elif m.role in ['system', 'developer'] -%}
    {{- '<|system|>' -}}
  {%- else -%}
    {{- '<|user|>' -}}
  {%- endif -%}
  {{- m.content or '' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|assistant|>' + ('<think>' if thinks else '</think>') -}}
{%- endif -%}
"""

GLM_52 = Family(
    name="glm-5.2",
    archs=("glm-dsa",),
    bos=None,
    eos="<|endoftext|>",
    ends=("<|user|>", "<|observation|>"),
    control=(
        "<|endoftext|>",
        "[gMASK]",
        "<sop>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|observation|>",
    ),
    markup=(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<tool_response>",
        "</tool_response>",
    ),
    template=TEMPLATE,
)
