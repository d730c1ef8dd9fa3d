import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import {
  addFile,
  fetchBytes,
  fileNow,
  hasExpired,
  onSessionChange,
  openFile,
  replaceContent,
  token,
  useAccount,
} from '../api/index.ts'
import { fileUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import { decodeText, encodeText, MAX_BYTES, type TextContent } from '../text-content.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { clearDrafts, type Draft, deleteDraft, findDraft, saveDraft } from './drafts.ts'
import type { OpenedFile } from './opened-file.ts'

onSessionChange(() => {
  // An expired session keeps them: the user did not choose to leave.
  if (token() === undefined && !hasExpired()) clearDrafts()
})

/** Someone else changed the file since it was opened. `theirs` is the id of the new content, undefined if the file is gone. */
export interface Conflict {
  readonly theirs: string | undefined
}

/** Editing session of a text file: baseline, current text, saving and conflicts. */
export function useTextSession(file: OpenedFile) {
  const { libraryId, path, commitId, name } = file
  const texts = useTexts('viewer')
  const toast = useToast()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const account = useAccount().data?.email
  const owner = useRef(account)
  owner.current = account ?? owner.current
  const [draft, setDraft] = useState(() =>
    commitId === undefined ? findDraft(account, libraryId, path) : undefined,
  )
  const [round, setRound] = useState(0)
  const [saved, setSaved] = useState<{ id: string; text: string } | undefined>(
    draft && { id: draft.id, text: draft.baseline },
  )
  const [text, setText] = useState(draft?.text)
  const [editing, setEditing] = useState(draft !== undefined)
  const [busy, setBusy] = useState(false)
  const [conflict, setConflict] = useState<Conflict>()

  // After a new sign-in the account is known later than the file.
  const isUntouched = text === undefined && commitId === undefined
  useEffect(() => {
    const found = isUntouched ? findDraft(account, libraryId, path) : undefined
    if (found === undefined) return
    setDraft(found)
    setSaved({ id: found.id, text: found.baseline })
    setText(found.text)
    setEditing(true)
  }, [account, isUntouched, libraryId, path])

  const loaded = useQuery({
    queryKey: ['file-text', libraryId, path, commitId ?? '', round],
    queryFn: ({ signal }) => load(file, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    refetchOnMount: false,
  })
  const content = loaded.data?.content
  const openedId = saved?.id ?? loaded.data?.id
  const baseline = saved?.text ?? content?.text ?? ''
  const current = text ?? baseline
  const isDirty = text !== undefined && text !== baseline

  const reload = useCallback(() => {
    deleteDraft(owner.current, libraryId, path)
    setSaved(undefined)
    setText(undefined)
    setConflict(undefined)
    setRound((count) => count + 1)
  }, [libraryId, path])

  // Content ids that this page loaded or saved. Any other id is a change by someone else.
  const known = useRef(new Set<string>())
  if (openedId !== undefined) known.current.add(openedId)
  const isForeign = openedId !== undefined && !known.current.has(file.id)
  const isIdle = !isDirty && !busy && conflict === undefined
  useEffect(() => {
    if (!isForeign || !isIdle) return
    known.current.add(file.id)
    reload()
  }, [isForeign, isIdle, file.id, reload])

  const unsaved = useRef<Draft | undefined>(undefined)
  unsaved.current = isDirty && openedId !== undefined ? { id: openedId, baseline, text: current } : undefined
  // A ref, so that the cleanup runs only on unmount and sees the latest state.
  const leave = useRef(() => {})
  leave.current = () => {
    const left = unsaved.current
    // No draft after sign-out.
    if (left === undefined || owner.current === undefined || (token() === undefined && !hasExpired())) return
    saveDraft(owner.current, libraryId, path, left)
    if (token() === undefined) {
      toast({ text: texts.keptUnsaved(name) })
      return
    }
    const run = () => go(fileUrl(libraryId, path))
    toast({ text: texts.leftUnsaved(name), action: { label: texts.backToFile, run } })
  }
  useEffect(() => () => leave.current(), [])

  const settle = async (id: string, written: string) => {
    deleteDraft(owner.current, libraryId, path)
    setSaved({ id, text: written })
    setConflict(undefined)
    await queries.invalidateQueries({ queryKey: ['dir', libraryId, parentOf(path)] })
  }

  /** Saves if the current content is `over`, by default the opened one. Resolves to whether it was saved. */
  async function save(over = openedId): Promise<boolean> {
    if (content === undefined) return false
    setBusy(true)
    try {
      const written = current
      const now = await fileNow(libraryId, path)
      if (now.id === undefined || now.id !== over) {
        setConflict({ theirs: now.id })
        return false
      }
      const stored = await replaceContent(libraryId, path, encodeText(written, content), now.head)
      if (stored.name === name) {
        await settle(stored.id, written)
        toast({ text: texts.saved })
      } else {
        toast({ text: texts.keptBeside(stored.name) })
        reload()
      }
      return true
    } catch (error) {
      failed(error)
      return false
    } finally {
      setBusy(false)
    }
  }

  /** Saves as a copy, or under the same name if the file is gone. */
  async function saveBeside(): Promise<boolean> {
    if (content === undefined) return false
    setBusy(true)
    try {
      const written = current
      const stored = await addFile(libraryId, path, encodeText(written, content))
      if (stored.name === name) await settle(stored.id, written)
      else {
        reload()
        await queries.invalidateQueries({ queryKey: ['dir', libraryId, parentOf(path)] })
      }
      toast({ text: texts.savedAs(stored.name) })
      return true
    } catch (error) {
      failed(error)
      return false
    } finally {
      setBusy(false)
    }
  }

  return {
    loaded,
    content,
    round,
    current,
    isDirty,
    isForeign: isForeign && isDirty,
    isDraft: draft !== undefined && isDirty && draft.text === text,
    editing,
    busy,
    conflict,
    setEditing,
    setText,
    setConflict,
    save,
    saveBeside,
    reload,
    /** Discards the changes. */
    discard() {
      unsaved.current = undefined
      deleteDraft(owner.current, libraryId, path)
      setText(undefined)
      setRound((count) => count + 1)
      setSaved(undefined)
    },
  }
}

export type TextSession = ReturnType<typeof useTextSession>

/** `content` is undefined for a file that is not text. */
async function load(
  file: OpenedFile,
  signal: AbortSignal,
): Promise<{ id: string; content: TextContent | undefined }> {
  const { link, id } = await openFile(file, signal)
  const bytes = await fetchBytes(link, MAX_BYTES, signal)
  return { id, content: decodeText(bytes, bytes.length < MAX_BYTES) }
}
