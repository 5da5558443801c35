// What all drives in JavaScript share: the prompt, and the one tool.
import fs from "node:fs";

export const { DRIVE_URL: URL, DRIVE_API: API, DRIVE_MODEL: MODEL } = process.env;
export const KEY = "unused";
export const PROMPT = process.argv[2];
export const ROUNDS = 5;
export const MAX_TOKENS = 1024;

export const NAME = "write_file";
export const DESCRIPTION = "Writes a file.";
export const SCHEMA = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
  additionalProperties: false,
};

export function writeFile({ path, content }) {
  fs.writeFileSync(path, content);
  return "written";
}

const made = () => fs.readdirSync(".").filter((name) => name.endsWith(".txt"));

// Runs `loop(streamed)` both ways; each must make its file.
export async function drive(loop) {
  for (const streamed of [true, false]) {
    for (const name of made()) fs.unlinkSync(name);
    console.log(await loop(streamed));
    if (!made().length) throw new Error(`no file was made, streamed: ${streamed}`);
  }
}
