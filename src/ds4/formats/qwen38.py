"""Qwen3.8 Flash Next: ChatML with a reasoning block at the head of an assistant turn.

    <|im_start|>assistant
    <think>
    reasoning
    </think>

    answer<|im_end|>

Only turns after the last user turn keep the block. Thinking off is an empty block in the
generation prompt.
"""

from dataclasses import replace

from ds4.formats.chatml import CHATML

TEMPLATE = r"""
{%- set thinks = enable_thinking is not defined or enable_thinking is none or enable_thinking -%}
{%- set ns = namespace(last=-1) -%}
{%- for m in messages -%}
  {%- if m.role not in ['system', 'developer', 'assistant'] -%}
    {%- set ns.last = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{%- for m in messages -%}
  {{- '<|im_start|>' + ('system' if m.role == 'developer' else m.role) + '\n' -}}
  {%- if m.role == 'assistant' and loop.index0 > ns.last -%}
    {{- '<think>\n' + (m.reasoning_content or '') + '\n</think>\n\n' -}}
  {%- endif -%}
  {{- (m.content or '') + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' + ('<think>\n' if thinks else '<think>\n\n</think>\n\n') -}}
{%- endif -%}
"""

QWEN38 = replace(CHATML, name="qwen3.8", archs=("qwen4exp",), template=TEMPLATE)
