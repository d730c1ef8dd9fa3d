import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, usageError } from './client-error.ts'
import { stateOf } from './list.ts'
import { requireRemote } from './remote-path.ts'
import { select } from './select.ts'
import { type CommonOptions, runClient, type Session } from './session.ts'

export interface CatOptions extends CommonOptions {
  readonly at?: string
  /** `FIRST-LAST`, in bytes, both included. */
  readonly range?: string
}

/** Writes files to standard output, one after the other. */
export function cat(targets: readonly string[], options: CatOptions): Promise<number> {
  return runClient(options, async (session) => {
    const range = rangeOf(options.range)
    for (const target of targets) {
      for (const { library, path } of await filesOf(session, target, options.at)) {
        const { body } = await session.carrel.download(library, path, {
          ...range,
          ...stateOf(options.at),
          signal: session.signal,
        })
        await pipeline(Readable.from(body), process.stdout, { end: false, signal: session.signal })
      }
    }
    return EXIT.ok
  })
}

/** What existed at another time cannot be found in the current state, so the path is taken as it is. */
async function filesOf(session: Session, target: string, at: string | undefined) {
  const remote = requireRemote(target)
  if (at !== undefined) {
    return [{ library: (await session.libraries.get(remote.library)).id, path: remote.path }]
  }
  const entries = await select(session, remote)
  const folder = entries.find(({ kind }) => kind === 'dir')
  if (folder !== undefined) throw usageError(`${folder.path} is a folder.`)
  return entries
}

function rangeOf(text: string | undefined): { start?: number; end?: number } {
  if (text === undefined) return {}
  const [, first, last] = /^(\d{1,15})-(\d{0,15})$/.exec(text) ?? []
  if (first === undefined || (last && Number(last) < Number(first))) {
    throw usageError('Give --range as FIRST-LAST in bytes, for example 0-1023.')
  }
  return { start: Number(first), ...(last && { end: Number(last) + 1 }) }
}
