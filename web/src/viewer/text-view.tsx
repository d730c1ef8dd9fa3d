import { Eye, PencilLine, Save } from 'lucide-react'
import {
  lazy,
  type ReactNode,
  Suspense,
  use,
  useCallback,
  useDeferredValue,
  useEffect,
  useState,
} from 'react'
import { createPortal } from 'react-dom'
import { extensionOf, kindOf } from '../file-kinds.ts'
import { useLeaveGuard } from '../navigation/index.ts'
import { commandOf } from '../shortcuts.ts'
import { useTexts } from '../texts/index.ts'
import { Button, IconButton, LoadError, ONE_COLUMN, useMedia, Waiting } from '../ui/index.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { InfoCard } from './info-card.tsx'
import { preloadViewer, viewerParts } from './lazy-parts.ts'
import { LeaveDialog } from './leave-dialog.tsx'
import type { OpenedFile } from './opened-file.ts'
import { PlainText } from './plain-text.tsx'
import { ToolbarSlot } from './toolbar-slot.ts'
import { type TextSession, useTextSession } from './use-text-session.ts'

const CodeEditor = lazy(viewerParts.editor)
const Markdown = lazy(viewerParts.markdown)
const TableView = lazy(viewerParts.table)

const TABLES = new Set(['csv', 'tsv'])

/** Text, code, Markdown and tables: read-only until the user edits. */
export function TextView(props: { file: OpenedFile; isGone: boolean }) {
  const { file } = props
  const texts = useTexts('viewer')
  const session = useTextSession(file)
  const { loaded, content, isDirty, conflict } = session
  const [leave, setLeave] = useState<() => void>()
  useLeaveGuard(
    isDirty,
    useCallback((proceed: () => void) => setLeave(() => proceed), []),
  )
  useSaveKey(session)
  // Loads the editor in parallel with the text.
  useEffect(() => preloadViewer(file.name), [file.name])
  if (content === undefined) {
    if (loaded.error) return <LoadError error={loaded.error} onRetry={() => void loaded.refetch()} />
    return loaded.data === undefined ? <Waiting /> : <InfoCard file={file} why={texts.noTextInside} />
  }
  return (
    <div className="viewer-body viewer-text">
      <Tools file={file} session={session} onCancel={setLeave} />
      <Notes session={session} />
      <Content file={file} session={session} />
      {conflict && <ConflictDialog file={file} session={session} conflict={conflict} />}
      {leave && (
        <LeaveDialog
          session={session}
          onClose={() => setLeave(undefined)}
          onLeave={() => {
            setLeave(undefined)
            // The leave guard is active until the state says that nothing is unsaved.
            setTimeout(leave)
          }}
        />
      )}
    </div>
  )
}

/** The buttons of the text, in the toolbar of the file. */
function Tools(props: {
  file: OpenedFile
  session: TextSession
  onCancel: (proceed: () => () => void) => void
}) {
  const { file, session } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const narrow = useMedia(ONE_COLUMN)
  const slot = use(ToolbarSlot)
  const { editing, isDirty, busy, content } = session
  if (slot === null || (!editing && (!file.isEditable || content?.isWhole !== true))) return null
  const edit = () => session.setEditing(true)
  const save = () => void session.save()
  const stop = () => session.setEditing(false)
  const cancel = () => (isDirty ? props.onCancel(() => stop) : stop())
  if (!editing) {
    return createPortal(
      narrow ? (
        <IconButton label={texts.edit} icon={PencilLine} onClick={edit} />
      ) : (
        <Button icon={PencilLine} onClick={edit}>
          {texts.edit}
        </Button>
      ),
      slot,
    )
  }
  return createPortal(
    <>
      <span className={narrow ? 'visually-hidden' : 'muted viewer-status'} role="status">
        {isDirty ? texts.unsaved : ''}
      </span>
      {narrow ? (
        <IconButton label={common.save} icon={Save} disabled={!isDirty || busy} onClick={save} />
      ) : (
        <Button variant="primary" icon={Save} busy={busy} disabled={!isDirty} onClick={save}>
          {common.save}
        </Button>
      )}
      {narrow ? (
        <IconButton label={texts.stopEditing} icon={Eye} onClick={cancel} />
      ) : (
        <Button icon={Eye} onClick={cancel}>
          {texts.stopEditing}
        </Button>
      )}
    </>,
    slot,
  )
}

function Notes({ session }: { session: TextSession }) {
  const texts = useTexts('viewer')
  const { content, editing, isForeign, isDraft, isStored } = session
  return (
    <>
      {content?.isWhole === false && <p className="viewer-note">{texts.beginningOnly}</p>}
      {content && content.charset !== 'utf-8' && (
        <p className="viewer-note">
          {(editing ? texts.otherCharsetEditing : texts.otherCharset)[content.charset]}
        </p>
      )}
      {isDraft && <p className="viewer-note">{texts.draftBack}</p>}
      {isStored === false && (
        <p className="viewer-note viewer-note-warn" role="status">
          {texts.draftTooLarge}
        </p>
      )}
      {isForeign && (
        <p className="viewer-note viewer-note-warn" role="status">
          {texts.changedMeanwhile}
        </p>
      )}
    </>
  )
}

function Content({ file, session }: { file: OpenedFile; session: TextSession }) {
  const texts = useTexts('viewer')
  const narrow = useMedia(ONE_COLUMN)
  const [side, setSide] = useState<'write' | 'preview'>('write')
  const { editing, current, round, content } = session
  const shown = useDeferredValue(current)
  const editor = (
    <CodeEditor
      key={`${round}${editing}`}
      name={content?.isWhole === true ? file.name : ''}
      text={current}
      editable={editing}
      label={editing ? texts.editorOf(file.name) : texts.textOf(file.name)}
      onChange={session.setText}
    />
  )
  const preview = <Markdown text={shown} file={file} />
  let body: ReactNode = <Suspense fallback={<PlainText text={current} />}>{editor}</Suspense>
  if (!editing && TABLES.has(extensionOf(file.name))) body = <TableView text={shown} name={file.name} />
  if (kindOf(file.name) === 'markdown') {
    if (!editing) body = preview
    else if (narrow) {
      body = (
        <>
          <div className="tabs" role="tablist" aria-label={texts.sides}>
            {(['write', 'preview'] as const).map((one) => (
              <button
                key={one}
                type="button"
                role="tab"
                className="tab"
                aria-selected={side === one}
                onClick={() => setSide(one)}
              >
                {texts[one]}
              </button>
            ))}
          </div>
          {side === 'write' ? editor : preview}
        </>
      )
    } else {
      body = (
        <div className="viewer-split">
          {editor}
          {preview}
        </div>
      )
    }
  }
  return <Suspense fallback={<Waiting />}>{body}</Suspense>
}

/** Saves on Ctrl+S anywhere on the page. */
function useSaveKey(session: TextSession): void {
  const { editing, isDirty, busy, save } = session
  useEffect(() => {
    if (!editing) return
    const onKey = (event: KeyboardEvent) => {
      if (commandOf('viewer', event) !== 'save') return
      event.preventDefault()
      if (isDirty && !busy) void save()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
