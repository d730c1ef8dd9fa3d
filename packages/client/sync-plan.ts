/** A file as the local scan or the server shows it. `stamp` changes if the content changes. */
export interface FileState {
  readonly size: number
  readonly stamp: string
}

/** What both sides had after the last run. */
export interface BaseState {
  readonly size: number
  /** Stamp of the local file. */
  readonly local: string
  /** File id at the server. */
  readonly remote: string
}

export type Action =
  | {
      readonly kind: 'upload' | 'download' | 'delete-local' | 'delete-remote' | 'forget'
      readonly path: string
    }
  /** Both sides have changed, or both are new. Equal contents are no conflict. */
  | { readonly kind: 'compare'; readonly path: string }

/** What brings both sides to the same state. A change wins over a deletion, so nothing that somebody has edited is lost. */
export function planSync(
  local: ReadonlyMap<string, FileState>,
  remote: ReadonlyMap<string, FileState>,
  base: ReadonlyMap<string, BaseState>,
): Action[] {
  const actions: Action[] = []
  for (const path of new Set([...local.keys(), ...remote.keys(), ...base.keys()])) {
    const kind = actionFor(local.get(path), remote.get(path), base.get(path))
    if (kind !== undefined) actions.push({ kind, path })
  }
  return actions.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function actionFor(
  here: FileState | undefined,
  there: FileState | undefined,
  base: BaseState | undefined,
): Action['kind'] | undefined {
  const isHereChanged = here !== undefined && here.stamp !== base?.local
  const isThereChanged = there !== undefined && there.stamp !== base?.remote
  if (here !== undefined && there !== undefined) {
    if (isHereChanged) return isThereChanged ? 'compare' : 'upload'
    return isThereChanged ? 'download' : undefined
  }
  if (here !== undefined) return isHereChanged ? 'upload' : 'delete-local'
  if (there !== undefined) return isThereChanged ? 'download' : 'delete-remote'
  return 'forget'
}

/** Fewer deletions are carried out without a question. */
const FEW = 10

/** Whether so many files would be deleted on one side that the other is probably not mounted, or the wrong folder. */
export function isSuspicious(actions: readonly Action[], known: number): boolean {
  const count = (kind: Action['kind']) => actions.filter((action) => action.kind === kind).length
  const most = Math.max(count('delete-local'), count('delete-remote'))
  return most > FEW && most > known / 2
}

/** `report (conflict from host 2026-11-17 09.30.00).txt`. */
export function conflictName(name: string, host: string, time: Date): string {
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const when = time.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.')
  return `${stem} (conflict from ${host.replace(/[^\w.-]/g, '_').slice(0, 40)} ${when})${extension}`
}
