import './viewer.css'
import { ArrowLeft, Download, FileX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { downloadFile, type Entry, useFolder } from '../api/index.ts'
import { kindOf } from '../file-kinds.ts'
import { folderUrl, useQueryParams } from '../navigation/index.ts'
import { join, nameOf, normalizePath, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  ButtonLink,
  Empty,
  FileIcon,
  IconButton,
  LoadError,
  useFailureToast,
  useTitle,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import { type VisitedLink, visitedLink } from '../visited-link.ts'
import { FileBody } from './file-body.tsx'
import { FileSteps } from './file-steps.tsx'
import { filesOf, type OpenedFile } from './opened-file.ts'
import { type SiblingNavigation, usePreloadedSiblings, useSiblingNavigation } from './sibling-files.ts'
import { ToolbarSlot } from './toolbar-slot.ts'

/** A file of a link: the shared file itself, or one in the shared folder. */
export default function VisitedFilePage() {
  const path = normalizePath(useQueryParams().get('p') ?? '')
  if (visitedLink === undefined) throw new Error('this is not the page of a link')
  return visitedLink.isDir ? <InFolder link={visitedLink} path={path} /> : <Single link={visitedLink} />
}

function Single({ link }: { link: VisitedLink }) {
  const { name, file: { size, mtime } = { size: 0, mtime: 0 } } = link
  const common = { permission: 'r', parent_dir: '/', starred: false }
  const entry: Entry = { ...common, type: 'file', id: `${mtime} ${size}`, name, size, mtime }
  return <FileView link={link} file={opened(link, '/', entry)} files={[entry]} />
}

function InFolder({ link, path }: { link: VisitedLink; path: string }) {
  const texts = useTexts('viewer')
  const { data: folder, error, refetch } = useFolder(link.token, parentOf(path))
  const files = useMemo(
    () => (folder ? filesOf(folder).filter((entry) => isViewable(link, entry)) : []),
    [folder, link],
  )
  const entry = files.find(({ name }) => name === nameOf(path))
  if (entry !== undefined)
    return <FileView link={link} file={opened(link, parentOf(path), entry)} files={files} />
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
    >
      <ButtonLink to={folderUrl(link.token, parentOf(path))}>{texts.toFolder}</ButtonLink>
    </Empty>
  )
}

/** Without the right to download, the app shows previews of pictures. The server shows what else may be seen. */
const isViewable = ({ canDownload }: VisitedLink, { name }: Entry) => canDownload || kindOf(name) === 'image'

function opened({ token }: VisitedLink, folder: string, entry: Entry): OpenedFile {
  const { id, name, size = 0, mtime } = entry
  return {
    libraryId: token,
    path: join(folder, name),
    id,
    name,
    size,
    mtime,
    entry,
    mayWrite: false,
    isEditable: false,
    mayStoreDraft: false,
  }
}

function FileView(props: { link: VisitedLink; file: OpenedFile; files: readonly Entry[] }) {
  const { link, file, files } = props
  const stepping = useSiblingNavigation(file, files, undefined, 'all')
  usePreloadedSiblings(file, stepping.neighbours)
  useTitle(file.name)
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const isLightbox = kindOf(file.name) === 'image'
  return (
    <article className={`viewer${isLightbox ? ' viewer-lightbox' : ''}`} aria-label={file.name}>
      <VisitedBar link={link} file={file} stepping={stepping} onSlot={setSlot} />
      <ToolbarSlot value={slot}>
        <FileBody key={file.path} file={file} stepping={stepping} isGone={false} />
      </ToolbarSlot>
    </article>
  )
}

function VisitedBar(props: {
  link: VisitedLink
  file: OpenedFile
  stepping: SiblingNavigation
  onSlot: (slot: HTMLElement | null) => void
}) {
  const { link, file, stepping } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  return (
    <header className="viewer-bar">
      {link.isDir && (
        <Link to={stepping.back} className="icon-button" title={texts.toFolder} aria-label={texts.toFolder}>
          <ArrowLeft size={19} aria-hidden />
        </Link>
      )}
      <FileIcon name={file.name} />
      <div className="viewer-title">
        <h1 title={file.name}>
          <bdi>{visibleName(file.name)}</bdi>
        </h1>
        <p className="viewer-about muted">
          <span>{formats.size(file.size)}</span>
          <span title={formats.moment(file.mtime)}>{formats.when(file.mtime)}</span>
        </p>
      </div>
      <div className="viewer-actions">
        <div ref={props.onSlot} className="viewer-slot" />
        {stepping.count > 1 && <FileSteps stepping={stepping} />}
        {link.canDownload && (
          <IconButton
            label={common.download}
            icon={Download}
            onClick={() => void downloadFile(file.libraryId, file.path).catch(failed)}
          />
        )}
      </div>
    </header>
  )
}
