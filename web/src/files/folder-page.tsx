import './files.css'
import { useParams } from 'wouter'
import { useFolder } from '../api/entries.ts'
import { canEdit, useLibrary } from '../api/libraries.ts'
import { Unlocked } from '../libraries/unlocked.tsx'
import { cleaned, nameOf } from '../paths.ts'
import { useQueryParams } from '../query-params.ts'
import { Failed } from '../ui/failed.tsx'
import { Waiting } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { Breadcrumb } from './breadcrumb.tsx'
import { FolderContents } from './folder-contents.tsx'

export default function FolderPage() {
  const { id } = useParams<{ id: string }>()
  const path = cleaned(useQueryParams().get('p') ?? '/')
  // A folder has a selection, a scroll position and a search of its own.
  return <FolderView key={`${id} ${path}`} libraryId={id} path={path} />
}

function FolderView(props: { libraryId: string; path: string }) {
  const { libraryId, path } = props
  const library = useLibrary(libraryId)
  const name = library.data?.repo_name ?? ''
  useTitle(path === '/' ? name : nameOf(path))
  if (library.data === undefined) {
    return library.error ? (
      <Failed error={library.error} onRetry={() => void library.refetch()} />
    ) : (
      <Waiting />
    )
  }
  return (
    <Unlocked libraryId={libraryId}>
      <Listed {...props} library={library.data} />
    </Unlocked>
  )
}

function Listed(props: {
  libraryId: string
  path: string
  library: NonNullable<ReturnType<typeof useLibrary>['data']>
}) {
  const { libraryId, path, library } = props
  const folder = useFolder(libraryId, path)
  if (folder.data !== undefined) {
    const permission = folder.data.user_perm === 'rw' ? 'rw' : 'r'
    const editable = canEdit({ permission, status: library.status })
    return <FolderContents {...props} entries={folder.data.dirent_list} editable={editable} />
  }
  return (
    <div className="files">
      <div className="files-head">
        <Breadcrumb libraryId={libraryId} libraryName={library.repo_name} path={path} onDropped={undefined} />
      </div>
      {folder.error ? <Failed error={folder.error} onRetry={() => void folder.refetch()} /> : <Waiting />}
    </div>
  )
}
