import './history.css'
import { useParams } from 'wouter'
import { UnlockGate } from '../encryption/index.ts'
import { useQueryParams } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { FileHistory } from './file-history.tsx'
import { LibraryHistory } from './library-history.tsx'
import { SnapshotView } from './snapshot-view.tsx'

/** The history of a library, a snapshot (`commit`), or the revisions of a file (`p`). */
export default function HistoryPage() {
  const { id = '' } = useParams()
  const query = useQueryParams()
  const path = normalizePath(query.get('p') ?? '')
  const commitId = query.get('commit')
  const page = () => {
    if (commitId !== null) {
      return <SnapshotView libraryId={id} commitId={commitId} path={normalizePath(query.get('at') ?? '')} />
    }
    return path === '/' ? <LibraryHistory libraryId={id} /> : <FileHistory libraryId={id} path={path} />
  }
  return <UnlockGate libraryId={id}>{page()}</UnlockGate>
}
