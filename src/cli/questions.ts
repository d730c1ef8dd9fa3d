import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'

/** Asks on stderr, so that stdout has only the result. Anything but yes, and the end of the input, means no. */
export async function confirm(question: string): Promise<boolean> {
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const reply = await Promise.race([lines.question(`${question} [y/N] `), closed])
  return /^y(es)?$/i.test(reply.trim())
}

/** All of standard input, without a final line end. */
export async function readPasswordFromInput(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
