import type { RestoredPart, TrashAction } from '../api/index.ts'

/** The selected entries of an action: some of them, or all with exceptions. Those that are not loaded are selected too. */
type Selected = { readonly isAll: boolean; readonly paths: ReadonlySet<string> }

/** The selected entries of a trash, by action. Actions without any are left out. */
export type TrashSelection = ReadonlyMap<string, Selected>

export const sizeOf = ({ files, folders }: Pick<TrashAction, 'files' | 'folders'>) => files + folders

/** Selects an action, or deselects it if all of it is selected. */
export function toggleAction(selection: TrashSelection, { action }: TrashAction): TrashSelection {
  const next = new Map(selection)
  if (stateOf(selection, action) === 'all') next.delete(action)
  else next.set(action, { isAll: true, paths: new Set() })
  return next
}

export function toggleItem(selection: TrashSelection, action: TrashAction, path: string): TrashSelection {
  const { isAll, paths } = selection.get(action.action) ?? { isAll: false, paths: new Set() }
  const changed = new Set(paths)
  if (!changed.delete(path)) changed.add(path)
  const next = new Map(selection)
  const isNone = changed.size === (isAll ? sizeOf(action) : 0)
  if (isNone) next.delete(action.action)
  else if (!isAll && changed.size === sizeOf(action))
    next.set(action.action, { isAll: true, paths: new Set() })
  else next.set(action.action, { isAll, paths: changed })
  return next
}

export function selectAll(actions: readonly TrashAction[]): TrashSelection {
  return new Map(actions.map(({ action }) => [action, { isAll: true, paths: new Set<string>() }]))
}

export function isSelected(selection: TrashSelection, action: string, path: string): boolean {
  const selected = selection.get(action)
  return selected !== undefined && selected.isAll !== selected.paths.has(path)
}

/** How much of an action is selected. */
export function stateOf(selection: TrashSelection, action: string): 'all' | 'some' | 'none' {
  const selected = selection.get(action)
  if (selected === undefined) return 'none'
  return selected.isAll && selected.paths.size === 0 ? 'all' : 'some'
}

/** The number of selected entries of these actions. */
export function countSelected(selection: TrashSelection, actions: readonly TrashAction[]): number {
  return actions.reduce((sum, action) => {
    const selected = selection.get(action.action)
    if (selected === undefined) return sum
    return sum + (selected.isAll ? sizeOf(action) - selected.paths.size : selected.paths.size)
  }, 0)
}

/** What to restore of the selected actions. */
export function partsOf(
  selection: TrashSelection,
  actions: readonly TrashAction[],
): { action: string; part: RestoredPart }[] {
  return actions.flatMap(({ action }) => {
    const selected = selection.get(action)
    if (selected === undefined) return []
    const paths = [...selected.paths]
    return [{ action, part: selected.isAll ? { except: paths } : { only: paths } }]
  })
}
