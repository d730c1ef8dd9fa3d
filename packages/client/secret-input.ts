import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** Reads one line: from a terminal after a prompt, otherwise all of standard input. */
export async function readSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '')
  process.stderr.write(`${prompt}: `)
  // The line editor echoes to a stream that drops everything.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  using lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  const secret = await lines.question('')
  process.stderr.write('\n')
  return secret
}

/** Reads one line that may be shown. */
export async function readLine(prompt: string): Promise<string> {
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  return (await lines.question(`${prompt}: `)).trim()
}
