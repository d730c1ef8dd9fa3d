import { useQueryClient } from '@tanstack/react-query'
import {
  type Deletion,
  deleteEntries,
  errorForStatus,
  type FileAt,
  groupByFolder,
  undoDeletion,
} from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { rememberUndo } from './undo-stack.ts'

/**
 * Deletes files of several folders and libraries, and offers to undo all of it at once. `refresh` is called after the
 * deletion and after it was undone. A failure is reported; what was deleted before it can still be undone.
 */
export function useDeleteFiles(refresh: () => Promise<unknown>) {
  const texts = useTexts('files')
  const toast = useToast()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const reload = async (deletions: readonly Deletion[]) => {
    for (const { libraryId } of deletions) void queries.invalidateQueries({ queryKey: ['dir', libraryId] })
    await refresh()
  }

  async function undo(deletions: readonly Deletion[]): Promise<void> {
    try {
      const refusals: string[] = []
      for (const deletion of deletions) refusals.push(...(await undoDeletion(deletion)))
      const [refusal] = refusals
      if (refusal === undefined) toast({ text: texts.restored(countIn(deletions), firstIn(deletions)) })
      else failed(errorForStatus(400, refusal))
    } catch (error) {
      failed(error)
    }
    await reload(deletions)
  }

  return async (files: readonly FileAt[]): Promise<void> => {
    const deletions: Deletion[] = []
    try {
      for (const selected of groupByFolder(files)) deletions.push(await deleteEntries(selected))
    } catch (error) {
      failed(error)
    }
    if (deletions.length > 0) {
      const text = texts.deleted(countIn(deletions), firstIn(deletions))
      toast({ text, undo: rememberUndo(() => undo(deletions)) })
    }
    await reload(deletions)
  }
}

function countIn(deletions: readonly Deletion[]): number {
  return deletions.reduce((sum, { names }) => sum + names.length, 0)
}

function firstIn(deletions: readonly Deletion[]): string {
  return deletions[0]?.names[0] ?? ''
}
