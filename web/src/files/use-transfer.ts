import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { type Selected, transferEntries } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import {
  recordCopy,
  recordMove,
  rememberUndo,
  type Target,
  trackTask,
  useUndoCopy,
  useUndoMove,
} from '../tasks/index.ts'
import { useTexts } from '../texts/index.ts'
import { useToast } from '../ui/index.ts'

/**
 * Copies or moves entries, reports it, and offers to undo it. `shown` is the folder on the screen. Rejects with the error of the
 * server.
 */
export function useTransfer() {
  const queries = useQueryClient()
  const toast = useToast()
  const texts = useTexts('files')
  const undoMove = useUndoMove()
  const undoCopy = useUndoCopy()
  const [, go] = useLocation()
  return useCallback(
    async (operation: 'copy' | 'move', selected: Selected, to: Target, shown?: Target): Promise<void> => {
      const moved = operation === 'move' ? recordMove(queries, selected, to) : undefined
      const copied =
        operation === 'copy' ? await recordCopy(queries, selected, to).catch(() => undefined) : undefined
      const task = await transferEntries(operation, selected, to)
      if (task !== undefined) return trackTask(task, operation, selected, to, { moved, copied })
      const { names } = selected
      const text = (operation === 'copy' ? texts.copied : texts.moved)(names.length, names[0] ?? '')
      const run = () => go(folderUrl(to.libraryId, to.path))
      const isShown = to.libraryId === shown?.libraryId && to.path === shown.path
      toast({
        text,
        ...(!isShown && { action: { label: texts.show, run } }),
        ...(moved && { undo: rememberUndo(() => undoMove(moved)) }),
        ...(copied && { undo: rememberUndo(() => undoCopy(copied)) }),
      })
      for (const id of new Set([selected.libraryId, to.libraryId]))
        void queries.invalidateQueries({ queryKey: ['dir', id] })
      return undefined
    },
    [queries, toast, texts, undoMove, undoCopy, go],
  )
}
