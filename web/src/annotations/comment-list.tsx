import './annotations.css'
import { useQueryClient } from '@tanstack/react-query'
import { Check, EllipsisVertical, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import {
  addComment,
  changeComment,
  type FileComment,
  type Person,
  removeComment,
  useAccount,
  useComments,
  useLibrary,
  useReaders,
} from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, Button, IconButton, LoadError, Menu, useFailureToast } from '../ui/index.ts'
import { MentionField } from './mention-field.tsx'
import { runsOf } from './mentions.ts'

/** The comments on a file, and a field for a new one. Nothing in an encrypted library, which stores none. */
export default function CommentList(props: {
  libraryId: string
  path: string
  /** Scrolled into view and marked. */
  commentId?: number | undefined
}) {
  const { libraryId, path, commentId } = props
  const texts = useTexts('annotations')
  const library = useLibrary(libraryId).data
  const [showsResolved, setShowsResolved] = useState(false)
  const { data, error, refetch } = useComments(libraryId, path)
  const people = useReaders(libraryId).data ?? []
  const change = useCommentChange(libraryId, path)
  if (library?.encrypted) return null
  const comments = data ?? []
  const resolved = comments.filter((comment) => comment.resolved).length
  const shown = comments.filter((comment) => showsResolved || !comment.resolved || comment.id === commentId)
  return (
    <section className="comments" aria-label={texts.comments}>
      <h3>{texts.comments}</h3>
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p className="muted">{texts.none}</p>}
      {resolved > 0 && (
        <button
          type="button"
          className="comments-resolved"
          aria-expanded={showsResolved}
          onClick={() => setShowsResolved(!showsResolved)}
        >
          {showsResolved ? texts.hideResolved : texts.showResolved(resolved)}
        </button>
      )}
      <ol className="comment-list">
        {shown.map((comment) => (
          <CommentItem
            key={comment.id}
            comment={comment}
            isLinked={comment.id === commentId}
            people={people}
            mayResolve={library?.permission === 'rw'}
            ownerEmail={library?.owner_email}
            onSave={(text) => change(() => changeComment(libraryId, comment.id, { comment: text }))}
            onResolve={() =>
              void change(() => changeComment(libraryId, comment.id, { resolved: !comment.resolved }))
            }
            onDelete={() => void change(() => removeComment(libraryId, comment.id))}
          />
        ))}
      </ol>
      <Composer
        key={path}
        people={people}
        label={texts.add}
        submit={texts.send}
        onSave={(text) => change(() => addComment(libraryId, path, text))}
      />
    </section>
  )
}

/** Runs a change, reloads the comments and reports a failure. Resolves to whether it succeeded. */
function useCommentChange(libraryId: string, path: string) {
  const queries = useQueryClient()
  const failed = useFailureToast()
  return async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      failed(error)
      return false
    } finally {
      await queries.invalidateQueries({ queryKey: ['comments', libraryId, path] })
    }
  }
}

function CommentItem(props: {
  comment: FileComment
  /** The URL of the page leads to it. */
  isLinked: boolean
  people: readonly Person[]
  mayResolve: boolean
  /** E-mail of the owner of the library. */
  ownerEmail: string | undefined
  onSave: (text: string) => Promise<boolean>
  onResolve: () => void
  onDelete: () => void
}) {
  const { comment, people, isLinked } = props
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isLinked) item.current?.scrollIntoView({ block: 'center' })
  }, [isLinked])
  const texts = useTexts('annotations')
  const common = useTexts('common')
  const formats = useFormats()
  const me = useAccount().data?.email
  const [isEditing, setEditing] = useState(false)
  const isMine = comment.user_email === me
  const entries = [
    ...(isMine || props.mayResolve
      ? [
          {
            label: comment.resolved ? texts.reopen : texts.resolve,
            icon: comment.resolved ? RotateCcw : Check,
            onSelect: props.onResolve,
          },
        ]
      : []),
    ...(isMine ? [{ label: texts.edit, icon: Pencil, onSelect: () => setEditing(true) }] : []),
    ...(isMine || props.ownerEmail === me
      ? [{ label: common.delete, icon: Trash2, onSelect: props.onDelete }]
      : []),
  ]
  return (
    <li
      ref={item}
      className={`comment${comment.resolved ? ' comment-resolved' : ''}${isLinked ? ' comment-linked' : ''}`}
      aria-current={isLinked || undefined}
    >
      <Avatar email={comment.user_email} name={comment.user_name} url={comment.avatar_url} size={28} />
      <div className="comment-body">
        <p className="comment-head">
          <bdi className="comment-author">{comment.user_name}</bdi>
          <time className="muted" dateTime={comment.created_at} title={formats.moment(comment.created_at)}>
            {formats.ago(comment.created_at)}
          </time>
          {comment.updated_at !== comment.created_at && <span className="muted">{texts.edited}</span>}
          {comment.resolved && <span className="badge">{texts.resolved}</span>}
        </p>
        {isEditing ? (
          <Composer
            people={people}
            label={texts.editing}
            submit={common.save}
            value={comment.comment}
            onSave={async (text) => {
              const saved = text === comment.comment || (await props.onSave(text))
              if (saved) setEditing(false)
              return saved
            }}
            onCancel={() => setEditing(false)}
          />
        ) : (
          <p className="comment-text">{shownText(comment.comment, people)}</p>
        )}
      </div>
      {entries.length > 0 && !isEditing && (
        <Menu
          trigger={<IconButton label={texts.actions(comment.user_name)} icon={EllipsisVertical} size={16} />}
          entries={entries}
        />
      )}
    </li>
  )
}

/** Always text, never markup. */
function shownText(text: string, people: readonly Person[]): ReactNode[] {
  return runsOf(text, people).map((run, index) =>
    typeof run === 'string' ? (
      run
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the runs of a text have no identity but their position.
      <span key={index} className="mention" title={run.person.email}>
        @<bdi>{run.person.name}</bdi>
      </span>
    ),
  )
}

function Composer(props: {
  people: readonly Person[]
  label: string
  submit: string
  value?: string
  onSave: (text: string) => Promise<boolean>
  onCancel?: () => void
}) {
  const common = useTexts('common')
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(props.value ?? '')
  const [isBusy, setBusy] = useState(false)
  async function save(): Promise<void> {
    if (text.trim() === '' || isBusy) return
    setBusy(true)
    const saved = await props.onSave(text.trim())
    setBusy(false)
    if (saved && props.value === undefined) setText('')
  }
  return (
    <form
      className="comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <MentionField
        label={props.label}
        value={text}
        onChange={setText}
        onSubmit={() => void save()}
        onCancel={props.onCancel}
        people={props.people}
        field={field}
      />
      <div className="comment-form-actions">
        {props.onCancel && <Button onClick={props.onCancel}>{common.cancel}</Button>}
        <Button type="submit" variant="primary" busy={isBusy} disabled={text.trim() === ''}>
          {props.submit}
        </Button>
      </div>
    </form>
  )
}
