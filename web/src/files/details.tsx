import { ChartPie, History, Link, Lock, Share2, Star } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { CommentList, TagEditor } from '../annotations/index.ts'
import type { Entry, LibraryDetail } from '../api/index.ts'
import { useFileDetail, useFolderDetail } from '../api/index.ts'
import { extensionOf } from '../file-kinds.ts'
import { historyUrl, storageUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { WhoHasAccess } from '../sharing/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FileIcon, visibleName, Waiting } from '../ui/index.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { useLockText } from './entry-name.tsx'
import { useThumbnail } from './thumbnails.ts'
import { useCopyLink } from './use-copy-link.ts'

interface DetailsProps {
  readonly here: CurrentFolder
  /** The selected entries. */
  readonly entries: readonly Entry[]
  /** The entries of the folder. */
  readonly all: readonly Entry[]
  readonly library: LibraryDetail
  readonly setDialog: (dialog: OpenDialog) => void
}

const PICTURE_PIXELS = 512
// Each file is tagged by a call of its own.
const MAX_TAGGED = 100

/** Details of the selection, or of the folder if nothing is selected. */
export function Details(props: DetailsProps) {
  const { here, entries, all, library } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const [entry] = entries
  if (entries.length > 1) {
    const size = entries.reduce((sum, one) => sum + (one.size ?? 0), 0)
    return (
      <div className="details">
        <Head
          name={texts.selected(entries.length, formats.number(entries.length))}
          icon={<FileIcon name="" size={56} />}
        />
        <dl>{size > 0 && <Fact label={common.size}>{formats.size(size)}</Fact>}</dl>
        {entries.length <= MAX_TAGGED && entries.every(({ type }) => type === 'file') && (
          <Suspense>
            <TagEditor
              library={library}
              files={entries.map((one) => ({ entry: one, path: entryPath(here, one) }))}
            />
          </Suspense>
        )}
      </div>
    )
  }
  if (entry?.type === 'file') return <FileDetails key={entry.name} {...props} entry={entry} />
  if (entry !== undefined) {
    return (
      <FolderDetails
        key={entry.name}
        {...props}
        path={entryPath(here, entry)}
        name={entry.name}
        entry={entry}
      />
    )
  }
  if (here.path !== '/') return <FolderDetails {...props} path={here.path} name={nameOf(here.path)} />
  return (
    <div className="details">
      <Head name={here.libraryName} icon={<FileIcon name="" isDir size={56} />} />
      <dl>
        <Fact label={texts.kind}>{texts.library}</Fact>
        <Fact label={common.owner}>
          <bdi>{library.owner_name}</bdi>
        </Fact>
        <Fact label={texts.contains}>
          {texts.files(library.file_count, formats.number(library.file_count))}
          {' · '}
          {texts.items(all.length, formats.number(all.length))}
        </Fact>
        <Fact label={common.size}>{formats.size(library.size)}</Fact>
        <Fact label={common.modified}>{formats.moment(library.last_modified)}</Fact>
      </dl>
      <Acts {...props} path="/" name={here.libraryName} isDir />
      <Access {...props} path="/" />
    </div>
  )
}

function FileDetails(props: DetailsProps & { entry: Entry }) {
  const { here, entry } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const path = entryPath(here, entry)
  const thumbnail = useThumbnail(here, entry, PICTURE_PIXELS)
  const { data } = useFileDetail(here.libraryId, path)
  const by = (name = '', viaLink = false) => (viaLink ? common.visitor(name) : name)
  const extension = extensionOf(entry.name)
  const picture =
    thumbnail === undefined ? <FileIcon name={entry.name} size={56} /> : <img src={thumbnail} alt="" />
  return (
    <div className="details">
      <Head name={entry.name} icon={picture} />
      <Signs entry={entry} />
      <dl>
        <Fact label={texts.kind}>
          {extension === '' ? texts.file : texts.kindOf(extension.toUpperCase())}
        </Fact>
        <Fact label={common.size}>{formats.size(entry.size ?? 0)}</Fact>
        <Fact label={common.modified}>
          {texts.byWhom(formats.moment(entry.mtime), by(entry.modifier_name, data?.last_modifier_via_link))}
        </Fact>
        {data && (
          <Fact label={texts.uploaded}>
            {texts.byWhom(formats.moment(data.upload_time), by(data.uploader_name, data.uploader_via_link))}
          </Fact>
        )}
        <Where here={here} path={path} />
      </dl>
      <Acts {...props} path={path} name={entry.name} isDir={false} />
      <Access {...props} path={path} />
      <Suspense>
        <TagEditor library={props.library} files={[{ entry, path }]} />
        <CommentList libraryId={here.libraryId} path={path} />
      </Suspense>
    </div>
  )
}

function FolderDetails(props: DetailsProps & { path: string; name: string; entry?: Entry }) {
  const { here, path, name, entry } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const { data } = useFolderDetail(here.libraryId, path)
  return (
    <div className="details">
      <Head name={name} icon={<FileIcon name={name} isDir size={56} />} />
      {entry && <Signs entry={entry} />}
      <dl>
        <Fact label={texts.kind}>{texts.folder}</Fact>
        <Fact label={texts.contains}>
          {data ? texts.files(data.file_count, formats.number(data.file_count)) : '…'}
        </Fact>
        <Fact label={common.size}>{data ? formats.size(data.size) : '…'}</Fact>
        {data && <Fact label={common.modified}>{formats.moment(data.mtime)}</Fact>}
        <Where here={here} path={path} />
      </dl>
      <Acts {...props} path={path} name={name} isDir />
      <Access {...props} path={path} />
    </div>
  )
}

function Head(props: { name: string; icon: ReactNode }) {
  return (
    <>
      <div className="details-picture">{props.icon}</div>
      <h2 className="details-name">
        <bdi>{visibleName(props.name)}</bdi>
      </h2>
    </>
  )
}

function Signs(props: { entry: Entry }) {
  const { entry } = props
  const texts = useTexts('files')
  const lock = useLockText(entry)
  if (!entry.starred && lock === undefined) return null
  return (
    <p className="details-signs">
      {entry.starred && (
        <span className="badge">
          <Star size={14} aria-hidden fill="currentColor" /> {texts.starred}
        </span>
      )}
      {lock !== undefined && (
        <span className="badge badge-accent">
          <Lock size={14} aria-hidden /> {lock}
        </span>
      )}
    </p>
  )
}

function Where(props: { here: CurrentFolder; path: string }) {
  const texts = useTexts('files')
  const parent = parentOf(props.path)
  return (
    <Fact label={texts.location}>
      <bdi>{props.here.libraryName + (parent === '/' ? '' : parent)}</bdi>
    </Fact>
  )
}

function Acts(props: DetailsProps & { path: string; name: string; isDir: boolean }) {
  const { here, path, name, isDir, setDialog } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const libraries = useTexts('libraries')
  const copyLink = useCopyLink(here.libraryId, setDialog)
  const [, go] = useLocation()
  return (
    <div className="details-acts">
      <Button icon={Share2} onClick={() => setDialog({ kind: 'share', path, name, isDir })}>
        {common.share}
      </Button>
      <Button icon={Link} onClick={() => void copyLink(path, isDir)}>
        {texts.copyLink}
      </Button>
      {(!isDir || path === '/') && (
        <Button icon={History} onClick={() => go(historyUrl(here.libraryId, path))}>
          {texts.history}
        </Button>
      )}
      {isDir && (
        <Button icon={ChartPie} onClick={() => go(storageUrl(here.libraryId, path))}>
          {libraries.spaceWhat}
        </Button>
      )}
    </div>
  )
}

/** Loaded when it is opened. */
function Access(props: DetailsProps & { path: string }) {
  const { here, library, path } = props
  const texts = useTexts('sharing')
  const [isOpen, setOpen] = useState(false)
  if (!here.owned && !library.is_admin) return null
  return (
    <details className="details-access" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.whoHasAccess}</summary>
      {isOpen && (
        <Suspense fallback={<Waiting />}>
          <WhoHasAccess libraryId={here.libraryId} libraryName={here.libraryName} path={path} />
        </Suspense>
      )}
    </details>
  )
}

function Fact(props: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}
