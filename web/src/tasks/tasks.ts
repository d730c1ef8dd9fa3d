import { useSyncExternalStore } from 'react'
import { type Selected, type TaskProgress, taskProgress } from '../api/index.ts'
import { nameOf } from '../paths.ts'
import type { CopyRecord } from './undo-copy.ts'
import type { MoveRecord } from './undo-move.ts'

/** A copy or move between libraries, or the extraction of an archive, which continues when the page is left. */
export interface Task {
  readonly id: string
  readonly operation: 'copy' | 'move' | 'extract'
  readonly count: number
  /** Name of the first entry. */
  readonly name: string
  readonly from: { readonly libraryId: string }
  readonly to: { readonly libraryId: string; readonly path: string }
  /** Record of a move that can be undone. */
  readonly moved: MoveRecord | undefined
  /** Record of a copy that can be undone. */
  readonly copied: CopyRecord | undefined
  readonly progress: TaskProgress | undefined
}

const ASK_MS = 1000
const listeners = new Set<() => void>()
let tasks: readonly Task[] = []

/** Running tasks, and ended ones that were not reported yet. */
export function useTasks(): readonly Task[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => tasks,
  )
}

/** Tracks a task until it ends. */
export function trackTask(
  id: string,
  operation: Task['operation'],
  { libraryId, folder, names }: Selected,
  to: Task['to'],
  { moved, copied }: { moved?: MoveRecord | undefined; copied?: CopyRecord | undefined } = {},
): void {
  const name = nameOf(`${folder}/${names[0] ?? ''}`)
  const about = { id, operation, count: names.length, name, from: { libraryId }, to, moved, copied }
  set([...tasks, { ...about, progress: undefined }])
  void ask(id)
}

export function removeTask(id: string): void {
  set(tasks.filter((task) => task.id !== id))
}

export const hasEnded = ({ progress }: Task) =>
  progress !== undefined && (progress.successful || progress.failed || progress.canceled)

async function ask(id: string): Promise<void> {
  while (tasks.some((task) => task.id === id)) {
    // A failed poll is simply repeated.
    const progress = await taskProgress(id).catch(() => undefined)
    if (progress !== undefined) set(tasks.map((task) => (task.id === id ? { ...task, progress } : task)))
    if (tasks.some((task) => task.id === id && hasEnded(task))) return
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
  }
}

function set(next: readonly Task[]): void {
  tasks = next
  for (const listener of listeners) listener()
}
