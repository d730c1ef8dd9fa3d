import './history.css'
import { useParams } from 'wouter'
import { Unlocked } from '../libraries/unlocked.tsx'
import { cleaned } from '../paths.ts'
import { useQueryParams } from '../query-params.ts'
import { FileHistory } from './file-history.tsx'
import { LibraryHistory } from './library-history.tsx'
import { PastState } from './past-state.tsx'

/** The history of a library, one of its past states (`commit`), or the revisions of a file (`p`). */
export default function HistoryPage() {
  const { id = '' } = useParams()
  const query = useQueryParams()
  const path = cleaned(query.get('p') ?? '')
  const commitId = query.get('commit')
  const page = () => {
    if (commitId !== null) {
      return <PastState libraryId={id} commitId={commitId} path={cleaned(query.get('at') ?? '')} />
    }
    return path === '/' ? <LibraryHistory libraryId={id} /> : <FileHistory libraryId={id} path={path} />
  }
  return <Unlocked libraryId={id}>{page()}</Unlocked>
}
