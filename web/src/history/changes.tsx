import { FilePlus2, FileX2, FolderPlus, FolderX, type LucideIcon, MoveRight, PencilLine } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { type Change, useCommit } from '../api/index.ts'
import { revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, Waiting } from '../ui/index.ts'

const SHOWN_AT_FIRST = 30

const signs: Readonly<Record<Change['op_type'], LucideIcon>> = {
  new: FilePlus2,
  newdir: FolderPlus,
  modified: PencilLine,
  renamed: MoveRight,
  removed: FileX2,
  deldir: FolderX,
}

/** What a commit added, changed, moved and removed. */
export function Changes({ libraryId, commitId }: { libraryId: string; commitId: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const { data, error, refetch } = useCommit(libraryId, commitId)
  const [count, setCount] = useState(SHOWN_AT_FIRST)
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  const changes = data.commit_diffs
  if (changes.length === 0) return <p className="muted">{texts.noFilesChanged}</p>
  return (
    <>
      <ul>
        {changes.slice(0, count).map((change) => (
          <ChangeRow
            key={`${change.op_type}${change.path}${change.new_path}`}
            change={change}
            address={addressOf(libraryId, commitId, change)}
          />
        ))}
      </ul>
      {count < changes.length && (
        <Button variant="quiet" onClick={() => setCount(count + 200)}>
          {common.loadMore} ({texts.left(changes.length - count)})
        </Button>
      )}
    </>
  )
}

function ChangeRow({ change, address }: { change: Change; address: string | undefined }) {
  const texts = useTexts('history')
  const Sign = signs[change.op_type] ?? PencilLine
  const path = change.new_path || change.path
  return (
    <li className={`history-change history-change-${change.op_type}`}>
      <Sign size={17} aria-hidden />
      <span className="history-op">{texts.ops[change.op_type] ?? change.op_type}</span>
      <span className="history-change-path">
        {change.op_type === 'renamed' && (
          <>
            <bdi>{change.path}</bdi> {'→ '}
          </>
        )}
        {address === undefined ? (
          <bdi>{path}</bdi>
        ) : (
          <Link to={address}>
            <bdi>{path}</bdi>
          </Link>
        )}
      </span>
    </li>
  )
}

/** Deleted entries are not in this commit. */
function addressOf(libraryId: string, commitId: string, change: Change): string | undefined {
  const { op_type: op, path, new_path: newPath } = change
  if (op === 'new' || op === 'modified') return revisionUrl(libraryId, path, commitId)
  if (op === 'newdir') return snapshotUrl(libraryId, commitId, path)
  // The API does not say whether a rename is of a file or a folder.
  if (op === 'renamed' && /\.\w{1,5}$/.test(newPath)) return revisionUrl(libraryId, newPath, commitId)
  return undefined
}
