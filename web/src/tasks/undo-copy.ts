import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { deleteEntries, type Entry, type Folder, fetchFolder, type Selected } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { namesOfCopies } from './names-of-copies.ts'
import { recordMove, type Target } from './undo-move.ts'

/** The copied entries, and what the target contained before. */
export interface CopyRecord {
  readonly entries: readonly Entry[]
  readonly before: ReadonlySet<string>
  readonly to: Target
}

/** Records a copy before it starts. Undefined if the source is not in the cache. */
export async function recordCopy(
  queries: QueryClient,
  from: Selected,
  to: Target,
): Promise<CopyRecord | undefined> {
  const record = recordMove(queries, from, to)
  if (record === undefined) return undefined
  const known = queries.getQueryData<Folder>(['dir', to.libraryId, to.path])
  const { dirent_list } = known ?? (await fetchFolder(to.libraryId, to.path))
  return { entries: record.entries, before: new Set(dirent_list.map(({ name }) => name)), to }
}

/** Deletes copies again and reports it. A copy that has changed since is kept, with all others. */
export function useUndoCopy(): (copied: CopyRecord) => Promise<void> {
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const texts = useTexts('files')
  return useCallback(
    async ({ entries, before, to }) => {
      try {
        const { dirent_list } = await fetchFolder(to.libraryId, to.path)
        const names = namesOfCopies(entries, dirent_list, before)
        if (names === undefined) return toast({ text: texts.notUndone, bad: true })
        await deleteEntries({ libraryId: to.libraryId, folder: to.path, names })
        toast({ text: texts.copyUndone(names.length, names[0] ?? '') })
        await queries.invalidateQueries({ queryKey: ['dir', to.libraryId] })
      } catch (error) {
        failed(error)
      }
    },
    [queries, toast, failed, texts],
  )
}
