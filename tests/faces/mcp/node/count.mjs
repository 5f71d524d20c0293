// Counts the cl100k tokens of each text in a JSON array on standard input; prints an array of numbers.
import { readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/cl100k_base";

const plainly = { disallowedSpecial: new Set() };
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text, plainly).length)));
