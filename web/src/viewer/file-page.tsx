import './viewer.css'
import { FileX } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { useParams } from 'wouter'
import { CommentList } from '../annotations/index.ts'
import type { Folder, LibraryDetail } from '../api/index.ts'
import { canEdit, type Permission, useFolderAt, useLibrary, useRememberOpened } from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { kindOf } from '../file-kinds.ts'
import { folderUrl, useQueryParams } from '../navigation/index.ts'
import { join, nameOf, normalizePath, parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, LoadError, useTitle, Waiting } from '../ui/index.ts'
import { FileBar } from './file-bar.tsx'
import { FileBody } from './file-body.tsx'
import { type FolderPickerComponent, FolderPickerSlot } from './folder-picker-slot.ts'
import { filesOf, type OpenedFile, useLastKnown } from './opened-file.ts'
import { usePreloadedSiblings, useSiblingNavigation } from './sibling-files.ts'
import { ToolbarSlot } from './toolbar-slot.ts'

export default function FilePage({ picker }: { picker?: FolderPickerComponent }) {
  const { id = '' } = useParams()
  const query = useQueryParams()
  const path = normalizePath(query.get('p') ?? '')
  const commitId = query.get('commit') ?? undefined
  return (
    <FolderPickerSlot value={picker}>
      <UnlockGate libraryId={id}>
        <OpenFile libraryId={id} path={path} commitId={commitId} />
      </UnlockGate>
    </FolderPickerSlot>
  )
}

interface Place {
  readonly libraryId: string
  readonly path: string
  readonly commitId: string | undefined
}

function OpenFile(place: Place) {
  const { libraryId, path, commitId } = place
  const texts = useTexts('viewer')
  const library = useLibrary(libraryId)
  const { data: folder, error, refetch } = useFolderAt(libraryId, parentOf(path), commitId)
  const found = folder && shownIn(folder, place, library.data)
  const file = useLastKnown(`${libraryId}${path}${commitId ?? ''}`, found)
  useRememberOpened(
    file === undefined || library.data === undefined || commitId !== undefined
      ? undefined
      : { libraryId, libraryName: library.data.repo_name, path, isDir: false },
  )
  if (file !== undefined) {
    return <FileView file={file} folder={folder} isGone={folder !== undefined && found === undefined} />
  }
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (folder === undefined) return <Waiting />
  return (
    <Empty
      icon={FileX}
      title={
        <>
          <bdi>{nameOf(path)}</bdi> {texts.isGone}
        </>
      }
      hint={texts.goneHint}
    >
      <ButtonLink to={folderUrl(libraryId, parentOf(path))}>{texts.toFolder}</ButtonLink>
    </Empty>
  )
}

function FileView(props: { file: OpenedFile; folder: Folder | undefined; isGone: boolean }) {
  const { file, folder, isGone } = props
  const texts = useTexts('viewer')
  const comments = useTexts('annotations')
  const files = useMemo(() => (folder ? filesOf(folder) : []), [folder])
  const query = useQueryParams()
  const day = query.get('day') ?? undefined
  const commentId = Number(query.get('comment')) || undefined
  const stepping = useSiblingNavigation(file, files, day, query.get('set') === 'starred' ? 'starred' : 'all')
  usePreloadedSiblings(file, stepping.neighbours)
  useTitle(file.name)
  const [showsComments, setShowsComments] = useState(commentId !== undefined)
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const isLightbox = kindOf(file.name) === 'image' && !isGone
  return (
    <article className={`viewer${isLightbox ? ' viewer-lightbox' : ''}`} aria-label={file.name}>
      <FileBar
        file={file}
        stepping={stepping}
        isGone={isGone}
        onSlot={setSlot}
        showsComments={showsComments}
        onComments={() => setShowsComments(!showsComments)}
      />
      {isGone && (
        <p className="viewer-note viewer-note-warn" role="status">
          {texts.goneMeanwhile}
        </p>
      )}
      {/* The key remounts the body, so that no state of one file leaks into the next. */}
      <ToolbarSlot value={slot}>
        <FileBody
          key={`${file.path}${file.commitId ?? ''}`}
          file={file}
          stepping={stepping}
          isGone={isGone}
        />
      </ToolbarSlot>
      {showsComments && !isGone && file.commitId === undefined && (
        <aside className="viewer-comments" aria-label={comments.comments}>
          <Suspense>
            <CommentList libraryId={file.libraryId} path={file.path} commentId={commentId} />
          </Suspense>
        </aside>
      )}
    </article>
  )
}

function shownIn(folder: Folder, place: Place, library: LibraryDetail | undefined): OpenedFile | undefined {
  const { libraryId, path, commitId } = place
  const entry = folder.dirent_list.find(({ name, type }) => type === 'file' && name === nameOf(path))
  if (entry === undefined) return undefined
  const permission = (entry.permission || folder.user_perm) as Permission
  const mayWrite = library?.status !== 'read-only' && canEdit({ permission })
  const isFree = entry.is_locked !== true || entry.locked_by_me === true
  return {
    libraryId,
    path: join(parentOf(path), entry.name),
    commitId,
    id: entry.id,
    name: entry.name,
    size: entry.size ?? 0,
    mtime: entry.mtime,
    entry,
    mayWrite,
    isEditable: commitId === undefined && mayWrite && isFree,
    mayStoreDraft: library?.encrypted === false,
  }
}
