// The AI SDK's own tool loop. DRIVE_PROVIDER names the provider package.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import * as task from "./task.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const settings = { baseURL: `${task.URL}/v1`, apiKey: task.KEY };
const makers = {
  "openai-compatible": () => createOpenAICompatible({ name: "local", includeUsage: true, ...settings })(task.MODEL),
  openai: () => createOpenAI(settings)[task.API](task.MODEL),
  anthropic: () => createAnthropic(settings)(task.MODEL),
};

async function loop(streamed) {
  const errors = [];
  const fields = {
    model: makers[process.env.DRIVE_PROVIDER](),
    tools: {
      [task.NAME]: tool({
        description: task.DESCRIPTION,
        inputSchema: z.object({ path: z.string(), content: z.string() }),
        execute: async (call) => task.writeFile(call),
      }),
    },
    stopWhen: isStepCount(task.ROUNDS),
    maxOutputTokens: task.MAX_TOKENS,
    maxRetries: 0,
    prompt: task.PROMPT,
    onError: ({ error }) => errors.push(error),
  };
  if (!streamed) return (await generateText(fields)).text;
  let said = "";
  for await (const piece of streamText(fields).textStream) said += piece;
  if (errors.length) throw errors[0];
  return said;
}

await task.drive(loop);
