import { Download, EllipsisVertical, FolderOpen, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import {
  canEdit,
  downloadFile,
  type PastEntry,
  type Restorable,
  useCommit,
  useLibrary,
  usePastFolder,
} from '../api/index.ts'
import { historyUrl, revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { ancestorsOf, join } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  ButtonLink,
  Empty,
  FileIcon,
  IconButton,
  LoadError,
  Menu,
  useFailureToast,
  useTitle,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import { RestoreDialog } from './restore-dialog.tsx'

interface Place {
  readonly libraryId: string
  readonly commitId: string
  readonly path: string
}

/** Read-only view of a library as of a commit, with download and restore. */
export function SnapshotView(place: Place) {
  const { libraryId, commitId, path } = place
  const texts = useTexts('history')
  const formats = useFormats()
  const library = useLibrary(libraryId)
  const commit = useCommit(libraryId, commitId)
  const folder = usePastFolder(libraryId, commitId, path)
  const [restoring, setRestoring] = useState<Restorable>()
  useTitle(library.data?.repo_name)
  const error = library.error ?? commit.error ?? folder.error
  if (error) return <LoadError error={error} onRetry={() => void folder.refetch()} />
  const mayRestore = library.data !== undefined && canEdit(library.data)
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          <bdi>{library.data?.repo_name}</bdi>
        </h1>
        <ButtonLink to={historyUrl(libraryId)}>{texts.toHistory}</ButtonLink>
      </header>
      {commit.data && (
        <p className="history-banner" role="status">
          {texts.asItWas(formats.moment(commit.data.commit_info.time))}
        </p>
      )}
      <Steps place={place} />
      {folder.data === undefined && <Waiting />}
      {folder.data?.length === 0 && <Empty icon={FolderOpen} title={texts.emptyFolder} />}
      {folder.data !== undefined && folder.data.length > 0 && (
        <ul className="history-entries card" aria-label={texts.content}>
          {sorted(folder.data).map((entry) => (
            <EntryRow
              key={entry.name}
              place={place}
              entry={entry}
              onRestore={mayRestore ? setRestoring : undefined}
            />
          ))}
        </ul>
      )}
      {restoring && (
        <RestoreDialog
          libraryId={libraryId}
          commitId={commitId}
          what={restoring}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  )
}

function Steps({ place: { libraryId, commitId, path } }: { place: Place }) {
  const texts = useTexts('history')
  const steps = ancestorsOf(path)
  return (
    <nav className="history-steps" aria-label={texts.steps}>
      <ol>
        <li>
          <Link to={snapshotUrl(libraryId, commitId)} aria-current={path === '/' ? 'page' : undefined}>
            {texts.root}
          </Link>
        </li>
        {steps.map((step) => (
          <li key={step.path}>
            <Link
              to={snapshotUrl(libraryId, commitId, step.path)}
              aria-current={step.path === path ? 'page' : undefined}
            >
              <bdi>{visibleName(step.name)}</bdi>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function EntryRow(props: {
  place: Place
  entry: PastEntry
  onRestore: ((what: Restorable) => void) | undefined
}) {
  const { place, entry, onRestore } = props
  const { libraryId, commitId } = place
  const texts = useTexts('history')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  const [, go] = useLocation()
  const path = join(place.path, entry.name)
  const isDir = entry.type === 'dir'
  const address = isDir ? snapshotUrl(libraryId, commitId, path) : revisionUrl(libraryId, path, commitId)
  return (
    <li>
      <FileIcon name={entry.name} isDir={isDir} />
      <Link to={address} className="history-entry" title={entry.name}>
        <bdi>{visibleName(entry.name)}</bdi>
      </Link>
      <span className="muted">{isDir ? '' : formats.size(entry.size ?? 0)}</span>
      <Menu
        trigger={<IconButton label={texts.actionsOf(entry.name)} icon={EllipsisVertical} />}
        entries={[
          { label: common.open, icon: FolderOpen, onSelect: () => go(address) },
          !isDir && {
            label: common.download,
            icon: Download,
            onSelect: () => void downloadFile(libraryId, path, commitId).catch(failed),
          },
          onRestore && {
            label: common.restore,
            icon: RotateCcw,
            onSelect: () => onRestore({ kind: isDir ? 'folder' : 'file', path }),
          },
        ]}
      />
    </li>
  )
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

function sorted(entries: readonly PastEntry[]): PastEntry[] {
  const rank = ({ type }: PastEntry) => (type === 'dir' ? 0 : 1)
  return entries.toSorted((a, b) => rank(a) - rank(b) || byName.compare(a.name, b.name))
}
