import { Link, Lock, Star, Users } from 'lucide-react'
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { TagChips } from '../annotations/index.ts'
import type { Entry, SharedSign } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { appBase } from '../site-url.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { visibleName } from '../ui/index.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'

export const addressOf = (here: CurrentFolder, entry: Entry) =>
  (entry.type === 'dir' ? folderUrl : fileUrl)(here.libraryId, entryPath(here, entry))

/** Link to a file or folder. The list handles clicks. */
export function EntryName(props: { here: CurrentFolder; entry: Entry }) {
  const { here, entry } = props
  return (
    <a
      className="files-name"
      data-part="name"
      href={appBase + addressOf(here, entry)}
      aria-label={entry.name}
      title={visibleName(entry.name)}
      draggable={false}
      tabIndex={-1}
    >
      <Truncated name={entry.name} />
    </a>
  )
}

/** The end of a name that stays visible: some characters and the extension. */
const TAIL = /[ -~]{0,6}\.[!-~]{1,10}$/
const SHORTEST_TRUNCATED = 18
// The halves of a name from right to left would change places.
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\u202a-\u202e\u2066-\u2069]/u

/** A name that is truncated in the middle if it is too long, so that its extension stays visible. */
function Truncated(props: { name: string }) {
  const name = visibleName(props.name)
  const tail = name.length < SHORTEST_TRUNCATED || RIGHT_TO_LEFT.test(name) ? undefined : TAIL.exec(name)?.[0]
  if (tail === undefined) return <bdi className="files-name-whole">{name}</bdi>
  return (
    <bdi className="files-name-parts">
      <span className="files-name-head">{name.slice(0, -tail.length)}</span>
      <span className="files-name-tail">{tail}</span>
    </bdi>
  )
}

/** Icons of a starred, locked or shared entry, and its tags. */
export function EntrySigns(props: { entry: Entry; shared: SharedSign | undefined }) {
  const { entry, shared } = props
  const texts = useTexts('files')
  const lock = useLockText(entry)
  return (
    <>
      <TagChips tags={entry.file_tags} />
      {entry.starred && (
        <span
          className="files-sign files-sign-star"
          role="img"
          aria-label={texts.starred}
          title={texts.starred}
        >
          <Star size={15} aria-hidden fill="currentColor" />
        </span>
      )}
      {lock !== undefined && (
        <span className="files-sign" role="img" aria-label={lock} title={lock}>
          <Lock size={15} aria-hidden />
        </span>
      )}
      {shared !== undefined && (
        <span
          className="files-sign"
          role="img"
          aria-label={texts.sharedSigns[shared]}
          title={texts.sharedSigns[shared]}
        >
          {shared === 'people' ? <Users size={15} aria-hidden /> : <Link size={15} aria-hidden />}
        </span>
      )}
    </>
  )
}

/** Says who locked the entry, and when. */
export function useLockText(entry: Entry): string | undefined {
  const texts = useTexts('files')
  const formats = useFormats()
  if (!entry.is_locked) return undefined
  const when = formats.ago(entry.lock_time ?? 0)
  return entry.locked_by_me
    ? texts.lockedByYou(when)
    : texts.lockedBy(entry.lock_owner_name || entry.lock_owner || '', when)
}

/** Inline field for a new name. It stays open while the name is taken. `onDone` gets undefined when the rename was cancelled. */
export function NameEditor(props: {
  entry: Entry
  isTaken: (name: string) => boolean
  onDone: (newName: string | undefined) => void
}) {
  const { entry, onDone } = props
  const common = useTexts('common')
  const texts = useTexts('files')
  const input = useRef<HTMLInputElement>(null)
  const done = useRef(false)
  const problemId = useId()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    input.current?.focus()
    const dot = entry.type === 'dir' ? -1 : entry.name.lastIndexOf('.')
    input.current?.setSelectionRange(0, dot > 0 ? dot : entry.name.length)
  }, [entry.name, entry.type])
  function finish(newName: string | undefined): void {
    if (done.current) return
    const isNew = newName !== undefined && newName !== '' && newName !== entry.name
    const found = isNew ? problemOf(newName) : undefined
    setProblem(found)
    if (found !== undefined) return
    done.current = true
    onDone(isNew ? newName : undefined)
  }
  function problemOf(newName: string): string | undefined {
    if (newName.includes('/')) return texts.nameHasSlash
    return props.isTaken(newName.normalize('NFC')) ? texts.nameIsTaken(newName) : undefined
  }
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    event.stopPropagation()
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') finish(event.currentTarget.value.trim())
    if (event.key === 'Escape') finish(undefined)
  }
  return (
    <>
      <input
        ref={input}
        className="input files-name-editor"
        dir="auto"
        aria-label={common.rename}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : problemId}
        defaultValue={entry.name}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        onInput={() => setProblem(undefined)}
        onKeyDown={onKeyDown}
        onBlur={(event) => finish(event.currentTarget.value.trim())}
        onClick={(event) => event.stopPropagation()}
        onDoubleClick={(event) => event.stopPropagation()}
        onContextMenu={(event) => event.stopPropagation()}
        onPointerDown={(event) => event.stopPropagation()}
      />
      {problem !== undefined && <NameProblem id={problemId} input={input} problem={problem} />}
    </>
  )
}

/** Message below the field. In the top layer, because the rows of the list clip their content. */
function NameProblem(props: { id: string; input: RefObject<HTMLInputElement | null>; problem: string }) {
  const message = useRef<HTMLParagraphElement>(null)
  const { input } = props
  useLayoutEffect(() => {
    const { left = 0, bottom = 0 } = input.current?.getBoundingClientRect() ?? {}
    message.current?.style.setProperty('left', `${left}px`)
    message.current?.style.setProperty('top', `${bottom + 4}px`)
    message.current?.showPopover()
  }, [input])
  return (
    <p ref={message} id={props.id} className="files-name-problem" role="alert" popover="manual">
      {props.problem}
    </p>
  )
}
