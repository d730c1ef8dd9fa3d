import { onSessionChange, token } from '../api/index.ts'

/** Undoes one action and reports the result itself. */
type Undo = () => Promise<void>

const MAX_KEPT = 50

/** The last actions of this tab, latest last. */
let undos: readonly Undo[] = []
let running: Promise<void> = Promise.resolve()

/** Keeps how to undo an action for Ctrl+Z. The returned function undoes it too, for a button. Each action is undone once. */
export function rememberUndo(undo: Undo): () => void {
  undos = [...undos, undo].slice(-MAX_KEPT)
  return () => {
    if (undos.includes(undo)) start(undo)
  }
}

/** Undoes the last action. False if there is none. */
export function undoLast(): boolean {
  const last = undos.at(-1)
  if (last !== undefined) start(last)
  return last !== undefined
}

/** One after the other: undoing an action may depend on the one after it being undone. */
function start(undo: Undo): void {
  undos = undos.filter((one) => one !== undo)
  // Each reports its own failure; the next one runs in any case.
  running = running.then(undo).catch(() => undefined)
}

// The next user of this browser must not undo them.
onSessionChange(() => {
  if (token() === undefined) undos = []
})
