import { useState } from 'react'
import { Link } from 'wouter'
import { type LargeEntry, useLargest } from '../api/index.ts'
import { fileUrl, storageUrl } from '../navigation/index.ts'
import { ancestorsOf, nameOf, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, LoadError, visibleName, Waiting } from '../ui/index.ts'

/** The largest items of a folder, each of which leads into itself, or the largest files anywhere below it. */
export function LargestEntries(props: { libraryId: string; libraryName: string; path: string }) {
  const { libraryId, libraryName, path } = props
  const texts = useTexts('libraries')
  const formats = useFormats()
  const [isBelow, setBelow] = useState(false)
  const { data, error, refetch } = useLargest(libraryId, path, isBelow)
  const above = path === '/' ? [] : [{ name: libraryName, path: '/' }, ...ancestorsOf(parentOf(path))]
  const name = path === '/' ? libraryName : nameOf(path)
  return (
    <section className="stack" aria-label={isBelow ? texts.largestFiles : texts.largestHere}>
      <div className="storage-head">
        <h2>
          {above.map((step) => (
            <span key={step.path}>
              <Link to={storageUrl(libraryId, step.path)}>
                <bdi>{visibleName(step.name)}</bdi>
              </Link>
              {' / '}
            </span>
          ))}
          <bdi>{visibleName(name)}</bdi>
          {data && <span className="muted storage-sum">{formats.size(data.size)}</span>}
        </h2>
        <fieldset className="storage-switch">
          <legend className="visually-hidden">{texts.spaceWhat}</legend>
          {([false, true] as const).map((below) => (
            <label key={String(below)}>
              <input
                type="radio"
                name="largest"
                checked={isBelow === below}
                onChange={() => setBelow(below)}
              />
              {below ? texts.largestFiles : texts.largestHere}
            </label>
          ))}
        </fieldset>
      </div>
      {data === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {data?.entries.length === 0 && <p className="muted">{texts.largestNone}</p>}
      {data !== undefined && data.entries.length > 0 && (
        <ul className="card storage-list">
          {data.entries.map((entry) => (
            <Row
              key={entry.path}
              libraryId={libraryId}
              entry={entry}
              most={Math.max(1, data.entries[0]?.size ?? 1)}
              isBelow={isBelow}
            />
          ))}
        </ul>
      )}
      {data?.is_complete === false && <p className="muted">{texts.largestPart}</p>}
    </section>
  )
}

function Row(props: { libraryId: string; entry: LargeEntry; most: number; isBelow: boolean }) {
  const { libraryId, entry, most, isBelow } = props
  const files = useTexts('files')
  const formats = useFormats()
  const isDir = entry.type === 'dir'
  return (
    <li>
      <Link
        to={isDir ? storageUrl(libraryId, entry.path) : fileUrl(libraryId, entry.path)}
        className="storage-row"
        title={entry.path}
      >
        <span className="storage-name">
          <FileIcon name={entry.name} isDir={isDir} size={20} />
          <bdi>{visibleName(entry.name)}</bdi>
        </span>
        <span className="storage-size">{formats.size(entry.size)}</span>
        <span className="storage-share" aria-hidden>
          <span style={{ inlineSize: `${(100 * entry.size) / most}%` }} />
        </span>
        <span className="storage-about muted">
          {isDir && files.files(entry.file_count, formats.number(entry.file_count))}
          {!isDir && isBelow && <bdi>{parentOf(entry.path)}</bdi>}
          {!isDir && !isBelow && formats.when(entry.mtime)}
        </span>
      </Link>
    </li>
  )
}
