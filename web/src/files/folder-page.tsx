import './files.css'
import { useParams } from 'wouter'
import { canEdit, useFolder, useLibrary, useRememberOpened } from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { useQueryParams } from '../navigation/index.ts'
import { nameOf, normalizePath } from '../paths.ts'
import { LoadError, useTitle, Waiting } from '../ui/index.ts'
import { Breadcrumb } from './breadcrumb.tsx'
import { FolderContents } from './folder-contents.tsx'

export default function FolderPage() {
  const { id } = useParams<{ id: string }>()
  const path = normalizePath(useQueryParams().get('p') ?? '/')
  // Each folder has its own selection, scroll position and filter.
  return <FolderView key={`${id} ${path}`} libraryId={id} path={path} />
}

function FolderView(props: { libraryId: string; path: string }) {
  const { libraryId, path } = props
  const library = useLibrary(libraryId)
  const name = library.data?.repo_name ?? ''
  useTitle(path === '/' ? name : nameOf(path))
  if (library.data === undefined) {
    return library.error ? (
      <LoadError error={library.error} onRetry={() => void library.refetch()} />
    ) : (
      <Waiting />
    )
  }
  return (
    <UnlockGate libraryId={libraryId}>
      <Listed {...props} library={library.data} />
    </UnlockGate>
  )
}

function Listed(props: {
  libraryId: string
  path: string
  library: NonNullable<ReturnType<typeof useLibrary>['data']>
}) {
  const { libraryId, path, library } = props
  const folder = useFolder(libraryId, path)
  useRememberOpened(folder.data && { libraryId, libraryName: library.repo_name, path, isDir: true })
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
      {folder.error ? <LoadError error={folder.error} onRetry={() => void folder.refetch()} /> : <Waiting />}
    </div>
  )
}
