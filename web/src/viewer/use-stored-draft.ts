import { useEffect, useRef, useState } from 'react'
import { hasExpired, isKept, token, useAccount } from '../api/index.ts'
import { type Draft, type DraftPlace, deleteDraft, saveDraft } from './drafts.ts'
import type { OpenedFile } from './opened-file.ts'

/** Debounce: so much typing is lost if the browser is killed. A page that is closed or hidden loses none. */
const STORE_AFTER_MS = 300

/** Where the draft of an opened file is kept. Undefined for an earlier version, and until the account is known. */
export function useDraftPlace({ libraryId, path, commitId }: OpenedFile): DraftPlace | undefined {
  const account = useAccount().data?.email
  // The account is not known any more once the session has expired.
  const owner = useRef(account)
  owner.current = account ?? owner.current
  if (owner.current === undefined || commitId !== undefined) return undefined
  return { account: owner.current, libraryId, path }
}

/** Sign-out deletes the drafts. An expired session keeps them: the user did not choose to leave. */
const isSignedOut = () => token() === undefined && !hasExpired()

/**
 * Keeps the unsaved text of a file while it is typed, and deletes the draft once nothing is unsaved. `isStored` says whether it is on the device;
 * undefined until it was tried.
 */
export function useStoredDraft(file: OpenedFile, place: DraftPlace | undefined, unsaved: Draft | undefined) {
  // A session that ends with the tab leaves nothing on the device.
  const [isLasting] = useState(isKept)
  const mayStore = file.mayStoreDraft && isLasting
  const [isStored, setStored] = useState<boolean>()
  const keep = useRef(() => {})
  keep.current = () => {
    if (place === undefined || unsaved === undefined || isSignedOut()) return
    setStored(saveDraft(place, unsaved, { mayStore }))
  }

  const { id, text, isSaveWanted } = unsaved ?? {}
  const isKnown = place !== undefined
  useEffect(() => {
    if (text === undefined) return
    const timer = setTimeout(() => keep.current(), STORE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [id, text, isSaveWanted, isKnown, mayStore])

  const current = useRef(place)
  current.current = place
  const isUnsaved = unsaved !== undefined
  const wasUnsaved = useRef(false)
  useEffect(() => {
    if (!isUnsaved && wasUnsaved.current) deleteDraft(current.current)
    wasUnsaved.current = isUnsaved
  }, [isUnsaved])

  useEffect(() => {
    const now = () => keep.current()
    const onHide = () => {
      if (document.visibilityState === 'hidden') now()
    }
    addEventListener('pagehide', now)
    document.addEventListener('visibilitychange', onHide)
    return () => {
      removeEventListener('pagehide', now)
      document.removeEventListener('visibilitychange', onHide)
      now()
    }
  }, [])

  return {
    isStored,
    mayStore,
    /** Deletes the draft, also if the page is left before it renders again. */
    forget: () => {
      keep.current = () => {}
      deleteDraft(place)
    },
  }
}
