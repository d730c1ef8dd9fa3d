import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { CarrelError } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from './toasts.tsx'

/**
 * Runs a mutation, invalidates queries and reports the result. `refreshes` are prefixes of query keys. Resolves to
 * whether it succeeded.
 */
export function useAction(...refreshes: readonly string[]) {
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const texts = useTexts('sharing')
  const names = refreshes.join('\n')
  return useCallback(
    async (work: () => Promise<unknown>, done?: string): Promise<boolean> => {
      try {
        await work()
        if (done !== undefined) toast({ text: done })
        return true
      } catch (error) {
        if (isPlainRefusal(error)) toast({ text: texts.refused, bad: true })
        else failed(error)
        return false
      } finally {
        for (const name of names.split('\n')) void queries.invalidateQueries({ queryKey: [name] })
      }
    },
    [queries, toast, failed, names, texts],
  )
}

/** A generic refusal of the server, for which there is a translated message. */
function isPlainRefusal(error: unknown): boolean {
  return (
    error instanceof CarrelError &&
    error.status === 403 &&
    /^(?:permission denied|you do not have permission)/i.test(error.message)
  )
}
