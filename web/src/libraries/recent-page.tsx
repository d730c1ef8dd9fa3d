import './libraries.css'
import { Clock } from 'lucide-react'
import { Link } from 'wouter'
import { isSamePlace, useAccount, useActivities, useItems, useRecentlyOpened } from '../api/index.ts'
import { fileUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Empty, LoadError, useTitle, visibleName, Waiting } from '../ui/index.ts'
import { FilePicture } from './file-picture.tsx'
import { mergeRecent, type RecentFile, recentFiles } from './recent-files.ts'

const MAX_FILES = 100

/** Files that the user opened in this browser or changed anywhere, in all libraries. */
export default function RecentPage() {
  const texts = useTexts('libraries')
  useTitle(texts.recentTitle)
  const { data: account } = useAccount()
  const opened = useRecentlyOpened()
  const activities = useActivities(account?.email ?? '')
  const changed = recentFiles(activities.data?.pages.flat() ?? []).filter(
    ({ author_email }) => author_email === account?.email,
  )
  const isKnown = opened !== undefined && account !== undefined && !activities.isPending
  const files = isKnown ? mergeRecent(opened, changed).slice(0, MAX_FILES) : undefined
  // What was changed long ago may be gone, and what the browser knows may be out of reach.
  const { data: items, error, refetch } = useItems(files)
  const shown = (files ?? []).flatMap((file) => {
    const item = items?.find(({ repo_id, path }) => isSamePlace(file, { libraryId: repo_id, path }))
    return item === undefined || item.is_dir ? [] : [{ file, item }]
  })
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.recentTitle}</h1>
      </div>
      {items === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {items !== undefined && shown.length === 0 && (
        <Empty icon={Clock} title={texts.recentEmpty} hint={texts.recentHint} />
      )}
      {shown.length > 0 && (
        <>
          <p className="muted">{texts.recentHint}</p>
          <ul className="card home-files" aria-label={texts.recentTitle}>
            {shown.map(({ file, item }) => (
              <Row key={file.libraryId + file.path} file={file} item={item} />
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

interface RowProps {
  readonly file: RecentFile
  readonly item: {
    readonly name: string
    readonly repo_name: string
    readonly repo_encrypted: boolean
    readonly mtime: string
  }
}

function Row({ file, item }: RowProps) {
  const { libraryId, path, at, act } = file
  const texts = useTexts('libraries')
  const formats = useFormats()
  const ago = formats.ago(at)
  return (
    <li>
      <Link to={fileUrl(libraryId, path)} className="home-file" title={item.repo_name + path}>
        <FilePicture
          libraryId={libraryId}
          path={path}
          isEncrypted={item.repo_encrypted}
          version={item.mtime}
        />
        <bdi className="home-name">{visibleName(item.name)}</bdi>
        <bdi className="home-about home-library muted">{item.repo_name}</bdi>
        <span className="home-about muted" title={formats.moment(at)}>
          {act === 'opened' ? texts.openedAgo(ago) : texts.changedAgo(ago)}
        </span>
      </Link>
    </li>
  )
}
