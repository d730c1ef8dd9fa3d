import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { CarrelError, fileNow, onReachability, reachable, replaceContent, useAccount } from '../api/index.ts'
import { fileUrl, useQueryParams } from '../navigation/index.ts'
import { nameOf, normalizePath, parentOf } from '../paths.ts'
import { encodeText } from '../text-content.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { type DraftPlace, deleteDraft, findDraft, listDrafts, saveDraft } from './drafts.ts'

/**
 * Saves the drafts that the user has saved while the server could not be reached, once it can be: those of files that nobody has changed since. The page
 * of a file saves its own draft, so that it can ask.
 */
export default function DraftSaver() {
  const account = useAccount().data?.email
  const saveOne = useSaveStored()
  const [location] = useLocation()
  const shown = useQueryParams().get('p') ?? ''
  const run = useRef(async () => {})
  run.current = async () => {
    if (account === undefined || !reachable()) return
    for (const draft of listDrafts(account).filter((one) => one.isSaveWanted)) {
      const isOpen = location === `/view/${draft.libraryId}` && normalizePath(shown) === draft.path
      // The next event tries again.
      if (!isOpen && !(await inTurn(() => saveOne(draft)))) return
    }
  }
  useEffect(() => {
    const start = () => void run.current()
    start()
    addEventListener('online', start)
    const stop = onReachability(start)
    return () => {
      removeEventListener('online', start)
      stop()
    }
  }, [account, location])
  return null
}

/** One tab after the other, so that none takes the change of another one for that of somebody else. Without HTTPS there are no locks. */
function inTurn(save: () => Promise<boolean>): Promise<boolean> {
  return 'locks' in navigator ? navigator.locks.request('carrel.drafts', save) : save()
}

/** Resolves to false if the server cannot be reached. */
function useSaveStored() {
  const texts = useTexts('viewer')
  const toast = useToast()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const [, go] = useLocation()

  return async function saveStored(place: DraftPlace): Promise<boolean> {
    const { libraryId, path } = place
    const draft = findDraft(place)
    if (draft?.isSaveWanted !== true) return true
    try {
      const { head, id } = await fileNow(libraryId, path)
      if (id !== draft.id) {
        saveDraft(place, { ...draft, isSaveWanted: false })
        const run = () => go(fileUrl(libraryId, path))
        toast({ text: texts.draftConflict(nameOf(path)), action: { label: texts.backToFile, run } })
        return true
      }
      const stored = await replaceContent(libraryId, path, encodeText(draft.text, draft.form), head)
      deleteDraft(place)
      toast({ text: texts.savedAs(stored.name) })
      await queries.invalidateQueries({ queryKey: ['dir', libraryId, parentOf(path)] })
      return true
    } catch (error) {
      if (error instanceof CarrelError && error.status === 0) return false
      saveDraft(place, { ...draft, isSaveWanted: false })
      failed(error)
      return true
    }
  }
}
