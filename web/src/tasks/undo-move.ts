import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type Entry, type Folder, fetchFolder, type Selected, transferEntries } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { nameAfterMove } from './name-after-move.ts'
import { trackTask } from './tasks.ts'

/** The folder a copy or move goes to. */
export interface Target {
  readonly libraryId: string
  readonly path: string
}

/** The moved entries as they were before, to recognize them afterwards. */
export interface MoveRecord {
  readonly from: Selected
  readonly entries: readonly Entry[]
  readonly to: Target
}

/** Records entries before a move, if they are in the cache. */
export function recordMove(queries: QueryClient, from: Selected, to: Target): MoveRecord | undefined {
  const folder = queries.getQueryData<Folder>(['dir', from.libraryId, from.folder])
  const names = new Set(from.names)
  const entries = folder?.dirent_list.filter(({ name }) => names.has(name)) ?? []
  return entries.length === names.size ? { from, entries, to } : undefined
}

/** Undoes a move and reports it. */
export function useUndoMove(): (moved: MoveRecord) => Promise<void> {
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const texts = useTexts('files')
  return useCallback(
    async ({ from, entries, to }) => {
      try {
        const { dirent_list } = await fetchFolder(to.libraryId, to.path)
        const names = entries.flatMap((entry) => nameAfterMove(entry, dirent_list) ?? [])
        if (names.length < entries.length) return toast({ text: texts.changedMeanwhile, bad: true })
        const back = { libraryId: to.libraryId, folder: to.path, names }
        const home = { libraryId: from.libraryId, path: from.folder }
        const task = await transferEntries('move', back, home)
        if (task !== undefined) return trackTask(task, 'move', back, home)
        toast({ text: texts.movedBack(names.length, names[0] ?? '') })
        await queries.invalidateQueries({ queryKey: ['dir', from.libraryId] })
      } catch (error) {
        failed(error)
      }
    },
    [queries, toast, failed, texts],
  )
}
