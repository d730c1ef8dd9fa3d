// Entry point of a worker process that a hostile file has taken over.
import { writeSync } from 'node:fs'
import { frameHeader, serveWorker } from '../../../src/platform/workers/runtime/index.ts'
import { attempts, descriptors, identity, loadNative, type Targets } from './attempts.ts'

/** What it does with its next input. */
export type HostileTask =
  | { readonly kind: 'attempt'; readonly name: string; readonly targets: Targets }
  | { readonly kind: 'facts'; readonly targets: Targets }
  | { readonly kind: 'say'; readonly frames: readonly HostileFrame[]; readonly targets?: Targets }
  | { readonly kind: 'flood'; readonly targets?: Targets }
  | { readonly kind: 'remember'; readonly targets?: Targets }

/** A frame as it is written to the server: its kind, its claimed length, and its text so many times. */
export interface HostileFrame {
  readonly kind: number
  readonly claims: number
  readonly text: string
  readonly times?: number
}

const seen: string[] = []

serveWorker<HostileTask, unknown>({
  prepare: async ({ targets }) => targets && loadNative(targets),
  async work({ task, bytes }) {
    if (task.kind === 'attempt') return attempt(task.name, task.targets)
    if (task.kind === 'facts') return { descriptors: descriptors(), ...(identity() as object) }
    if (task.kind === 'say') for (const frame of task.frames) say(frame)
    if (task.kind === 'flood') for (;;) flood()
    seen.push(bytes.toString())
    return { seen, process: process.pid }
  },
})

function flood(): void {
  try {
    writeSync(2, Buffer.alloc(1024, 'x'))
  } catch {
    // The pipe is full.
  }
}

async function attempt(name: string, targets: Targets): Promise<unknown> {
  try {
    const got = await attempts[name]?.(targets)
    return { got: String(got).slice(0, 100) }
  } catch (error) {
    return { refused: String((error as NodeJS.ErrnoException).code ?? error) }
  }
}

function say({ kind, claims, text, times = 1 }: HostileFrame): void {
  const write = (bytes: Buffer) => {
    for (let written = 0; written < bytes.length; ) written += writeSync(3, bytes, written)
  }
  write(frameHeader(kind, claims))
  for (let n = 0; n < times; n += 1) write(Buffer.from(text, 'latin1'))
}
