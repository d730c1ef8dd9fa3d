import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import {
  addFile,
  CarrelError,
  fetchBytes,
  fileNow,
  hasExpired,
  openFile,
  replaceContent,
  token,
} from '../api/index.ts'
import { fileUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import { decodeText, encodeText, MAX_BYTES, type TextContent } from '../text-content.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { type Draft, findDraft } from './drafts.ts'
import type { OpenedFile } from './opened-file.ts'
import { useDraftPlace, useStoredDraft } from './use-stored-draft.ts'
import { useWantedSave } from './use-wanted-save.ts'

/** Someone else changed the file since it was opened. `theirs` is the id of the new content, undefined if the file is gone. */
export interface Conflict {
  readonly theirs: string | undefined
}

/** Editing session of a text file: baseline, current text, draft, saving and conflicts. */
export function useTextSession(file: OpenedFile) {
  const { libraryId, path, commitId, name } = file
  const texts = useTexts('viewer')
  const toast = useToast()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const place = useDraftPlace(file)
  const [draft, setDraft] = useState(() => findDraft(place))
  const [round, setRound] = useState(0)
  // The text is not known of a draft: it is the content of the file, if that still has this id.
  const [saved, setSaved] = useState<{ id: string; text?: string } | undefined>(draft && { id: draft.id })
  const [text, setText] = useState(draft?.text)
  const [editing, setEditing] = useState(draft !== undefined)
  const [busy, setBusy] = useState(false)
  const [conflict, setConflict] = useState<Conflict>()
  const [isSaveWanted, setSaveWanted] = useState(draft?.isSaveWanted ?? false)

  // Content ids that this page loaded or saved. Any other id is a change by someone else.
  const known = useRef(new Set<string>())

  // After a new sign-in the account is known later than the file.
  const isUntouched = text === undefined && commitId === undefined
  const account = place?.account
  useEffect(() => {
    const found = isUntouched && account !== undefined ? findDraft({ account, libraryId, path }) : undefined
    if (found === undefined) return
    known.current.clear()
    setDraft(found)
    setSaved({ id: found.id })
    setText(found.text)
    setSaveWanted(found.isSaveWanted)
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
  // A draft has its own form: the file may not be kept without a connection, or have other content by now.
  const content = contentOf(draft) ?? loaded.data?.content
  const openedId = saved?.id ?? loaded.data?.id
  const isOpened = openedId === loaded.data?.id
  const baseline = saved?.text ?? (isOpened ? loaded.data?.content?.text : undefined)
  const current = text ?? baseline ?? ''
  const isDirty = text !== undefined && text !== baseline
  const unsaved =
    isDirty && openedId !== undefined && content !== undefined
      ? { id: openedId, text: current, form: formOf(content), isSaveWanted }
      : undefined
  const { isStored, mayStore, forget } = useStoredDraft(file, place, unsaved)
  useLeaveToast(file, unsaved)

  const forgetDraft = useRef(forget)
  forgetDraft.current = forget
  const reload = useCallback(() => {
    forgetDraft.current()
    setDraft(undefined)
    setSaved(undefined)
    setText(undefined)
    setSaveWanted(false)
    setConflict(undefined)
    setRound((count) => count + 1)
  }, [])

  if (openedId !== undefined) known.current.add(openedId)
  const isForeign = openedId !== undefined && !known.current.has(file.id)
  const isIdle = !isDirty && !busy && conflict === undefined
  useEffect(() => {
    if (!isForeign || !isIdle) return
    known.current.add(file.id)
    reload()
  }, [isForeign, isIdle, file.id, reload])

  const settle = async (id: string, written: string) => {
    forget()
    setSaved({ id, text: written })
    setSaveWanted(false)
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
        setSaveWanted(false)
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
      // The server could not be asked. The draft is saved once it can.
      if (error instanceof CarrelError && error.status === 0 && mayStore && isStored !== false) {
        setSaveWanted(true)
        toast({ text: texts.savedLater(name) })
      } else failed(error)
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

  const isRestored = draft !== undefined && draft.text === text
  useWantedSave(isSaveWanted && isDirty && !busy && conflict === undefined ? save : undefined, isRestored)

  return {
    loaded,
    content,
    round,
    current,
    isDirty,
    isForeign: isForeign && isDirty,
    /** Whether the unsaved text outlives the page. Undefined if it may not, or is not known yet. */
    isStored: mayStore && isDirty ? isStored : undefined,
    isDraft: isDirty && isRestored,
    editing,
    busy,
    conflict,
    setEditing,
    setText,
    setConflict,
    save,
    saveBeside,
    reload,
  }
}

export type TextSession = ReturnType<typeof useTextSession>

/** Says, when the page is left with unsaved text, how to get back to it. */
function useLeaveToast({ libraryId, path, name }: OpenedFile, unsaved: Draft | undefined): void {
  const texts = useTexts('viewer')
  const toast = useToast()
  const [, go] = useLocation()
  // A ref, so that the cleanup runs only on unmount and sees the latest state.
  const leave = useRef(() => {})
  leave.current = () => {
    if (unsaved === undefined) return
    if (token() !== undefined) {
      const run = () => go(fileUrl(libraryId, path))
      toast({ text: texts.leftUnsaved(name), action: { label: texts.backToFile, run } })
    } else if (hasExpired()) toast({ text: texts.keptUnsaved(name) })
  }
  useEffect(() => () => leave.current(), [])
}

const formOf = ({ charset, hasMark, lineBreak }: TextContent) => ({ charset, hasMark, lineBreak })

function contentOf(draft: Draft | undefined): TextContent | undefined {
  return draft && { ...draft.form, text: draft.text, isWhole: true }
}

/** `content` is undefined for a file that is not text. */
async function load(
  file: OpenedFile,
  signal: AbortSignal,
): Promise<{ id: string; content: TextContent | undefined }> {
  const { link, id } = await openFile(file, signal)
  const bytes = await fetchBytes(link, MAX_BYTES, signal)
  return { id, content: decodeText(bytes, bytes.length < MAX_BYTES) }
}
