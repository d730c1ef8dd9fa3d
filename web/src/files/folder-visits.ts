import { join } from '../paths.ts'

/** Scroll position and active entry of a folder when it was left, to restore them. */
interface Visit {
  readonly scrollTop: number
  readonly active: string | undefined
  /** Whether to scroll to the active entry instead of the stored position. */
  readonly reveal?: boolean
}

const MAX_KEPT = 200
const visits = new Map<string, Visit>()
let takesFocus: string | undefined

const keyOf = (libraryId: string, path: string) => `${libraryId} ${path}`

export function leave(libraryId: string, path: string, visit: Visit): void {
  const key = keyOf(libraryId, path)
  visits.delete(key)
  visits.set(key, visit)
  const [oldest] = visits.keys()
  if (visits.size > MAX_KEPT && oldest !== undefined) visits.delete(oldest)
}

export function lastVisit(libraryId: string, path: string): Visit | undefined {
  return visits.get(keyOf(libraryId, path))
}

/** Called before navigating to a folder: its list will receive the focus. */
export function focusWhenOpened(libraryId: string, path: string): void {
  takesFocus = keyOf(libraryId, path)
}

/** Called before navigating up: the child that contains `from` will be active. */
export function activateChild(libraryId: string, path: string, from: string): void {
  focusWhenOpened(libraryId, path)
  const [child = ''] = from.slice(join(path, '').length).split('/', 1)
  const before = lastVisit(libraryId, path)
  leave(libraryId, path, { scrollTop: before?.scrollTop ?? 0, active: child, reveal: true })
}

/** Whether the list of a folder should take the focus. True once. */
export function takeFocus(libraryId: string, path: string): boolean {
  const wanted = takesFocus === keyOf(libraryId, path)
  if (wanted) takesFocus = undefined
  return wanted
}
