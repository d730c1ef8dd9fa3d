import { ChevronDown, EllipsisVertical, FolderSearch, History, RotateCcw, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { useLocation } from 'wouter'
import {
  type CommitItem,
  type LibraryDetail,
  useAccount,
  useKeepDays,
  useLibrary,
  useLibraryHistory,
} from '../api/index.ts'
import { folderUrl, snapshotUrl, trashUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  ButtonLink,
  Empty,
  IconButton,
  LoadError,
  Menu,
  ONE_COLUMN,
  useMedia,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { Changes } from './changes.tsx'
import { CommitSentence } from './commit-sentence.tsx'
import { RestoreDialog } from './restore-dialog.tsx'

/** All commits of a library, newest first, grouped by day. */
export function LibraryHistory({ libraryId }: { libraryId: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const library = useLibrary(libraryId)
  const { data: account } = useAccount()
  const history = useLibraryHistory(libraryId)
  const [restoring, setRestoring] = useState<string>()
  useTitle(library.data && `${texts.historyOf} ${library.data.repo_name}`)
  const error = library.error ?? history.error
  if (error) return <LoadError error={error} onRetry={() => void history.refetch()} />
  const commits = history.data?.pages.flatMap(({ data }) => data)
  const mayRestore = isOwner(library.data, account?.email)
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          {texts.historyOf} <bdi>{library.data?.repo_name}</bdi>
        </h1>
        <ButtonLink to={trashUrl(libraryId)} icon={Trash2}>
          {texts.trash}
        </ButtonLink>
        <ButtonLink to={folderUrl(libraryId)}>{texts.toLibrary}</ButtonLink>
      </header>
      <KeptHistory libraryId={libraryId} />
      {commits === undefined && <Waiting />}
      {commits?.length === 0 && <Empty icon={History} title={texts.empty} hint={texts.emptyHint} />}
      {byDay(commits ?? []).map(([day, ofDay]) => (
        <Day
          key={day}
          libraryId={libraryId}
          commits={ofDay}
          newest={commits?.[0]?.commit_id}
          onRestore={mayRestore ? setRestoring : undefined}
        />
      ))}
      {history.hasNextPage && (
        <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {restoring !== undefined && (
        <RestoreDialog
          libraryId={libraryId}
          commitId={restoring}
          what={{ kind: 'library' }}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  )
}

function isOwner(library: LibraryDetail | undefined, email: string | undefined): boolean {
  return (
    library !== undefined &&
    library.owner_email === email &&
    !library.is_virtual &&
    library.status === 'normal'
  )
}

/** How long the library keeps its history. */
export function KeptHistory({ libraryId }: { libraryId: string }) {
  const texts = useTexts('history')
  const { data: library } = useLibrary(libraryId)
  const { data: account } = useAccount()
  const isOwner = library !== undefined && !library.is_virtual && library.owner_email === account?.email
  const { data: days } = useKeepDays(libraryId, isOwner)
  if (days === undefined) return null
  return <p className="muted">{days < 0 ? texts.keptForever : texts.keptDays(days)}</p>
}

function Day(props: {
  libraryId: string
  commits: readonly CommitItem[]
  newest: string | undefined
  onRestore: ((commitId: string) => void) | undefined
}) {
  const formats = useFormats()
  const { commits } = props
  const id = useId()
  return (
    <section className="history-day" aria-labelledby={id}>
      <h2 id={id}>{formats.date(commits[0]?.time ?? 0)}</h2>
      <ol>
        {commits.map((commit) => (
          <Commit
            key={commit.commit_id}
            libraryId={props.libraryId}
            commit={commit}
            isNewest={commit.commit_id === props.newest}
            onRestore={props.onRestore}
          />
        ))}
      </ol>
    </section>
  )
}

function Commit(props: {
  libraryId: string
  commit: CommitItem
  isNewest: boolean
  onRestore: ((commitId: string) => void) | undefined
}) {
  const { libraryId, commit, isNewest, onRestore } = props
  const texts = useTexts('history')
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <li className="history-commit">
      {commit.via_link ? (
        <Avatar email="" size={34} />
      ) : (
        <Avatar email={commit.email} name={commit.name} size={34} />
      )}
      <div className="history-what">
        <CommitSentence libraryId={libraryId} commit={commit} />
        {(commit.device_name || isNewest) && (
          <p className="muted history-who">
            {commit.device_name && <bdi>{commit.device_name}</bdi>}
            {isNewest && <span className="badge badge-accent">{texts.now}</span>}
          </p>
        )}
      </div>
      <div className="history-actions">
        <Button
          variant="quiet"
          icon={ChevronDown}
          className={isOpen ? 'history-open' : ''}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.whatChanged}
        </Button>
        <CommitActions
          address={snapshotUrl(libraryId, commit.commit_id)}
          onRestore={isNewest || !onRestore ? undefined : () => onRestore(commit.commit_id)}
        />
      </div>
      <div id={id} className="history-changes" hidden={!isOpen}>
        {isOpen && <Changes libraryId={libraryId} commitId={commit.commit_id} />}
      </div>
    </li>
  )
}

function CommitActions(props: { address: string; onRestore: (() => void) | undefined }) {
  const { address, onRestore } = props
  const texts = useTexts('history')
  const common = useTexts('common')
  const narrow = useMedia(ONE_COLUMN)
  const [, go] = useLocation()
  if (narrow) {
    return (
      <Menu
        trigger={<IconButton label={common.more} icon={EllipsisVertical} />}
        entries={[
          { label: texts.lookAt, icon: FolderSearch, onSelect: () => go(address) },
          onRestore && { label: texts.restoreLibrary, icon: RotateCcw, onSelect: onRestore },
        ]}
      />
    )
  }
  return (
    <>
      <ButtonLink variant="quiet" icon={FolderSearch} to={address}>
        {texts.lookAt}
      </ButtonLink>
      {onRestore && (
        <Button variant="quiet" icon={RotateCcw} onClick={onRestore}>
          {texts.restoreLibrary}
        </Button>
      )}
    </>
  )
}

function byDay(commits: readonly CommitItem[]): [string, CommitItem[]][] {
  const days = new Map<string, CommitItem[]>()
  for (const commit of commits) {
    const day = new Date(commit.time).toDateString()
    const known = days.get(day)
    if (known) known.push(commit)
    else days.set(day, [commit])
  }
  return [...days]
}
