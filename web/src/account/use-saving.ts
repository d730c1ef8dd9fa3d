import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useErrorMessage, useToast } from '../ui/index.ts'

/** Saves a setting and reports the result. */
export function useSaving() {
  const queries = useQueryClient()
  const toast = useToast()
  const wording = useErrorMessage()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  /** Resolves to whether it was saved. */
  async function save(work: Promise<unknown>, saved: string): Promise<boolean> {
    setBusy(true)
    setFailure(undefined)
    try {
      await work
      toast({ text: saved })
      await queries.invalidateQueries({ queryKey: ['account'] })
      return true
    } catch (error) {
      setFailure(wording(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, failure, save }
}
