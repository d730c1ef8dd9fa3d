import { Link } from 'wouter'
import { useLibraryUsage } from '../api/index.ts'
import { storageUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { LoadError, Waiting } from '../ui/index.ts'
import { SpaceNotes, SpaceParts } from './space-parts.tsx'

/** Storage of a library by purpose, and when it was counted. `fileSize` is the size of its files, each counted in full. */
export function UsageList(props: { libraryId: string; fileSize?: number | undefined; link?: boolean }) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const { data, error, refetch } = useLibraryUsage(props.libraryId)
  const {
    current = 0,
    history = 0,
    trash = 0,
    unreferenced = 0,
    shared = 0,
    total,
    computed_at: at,
  } = data ?? {}
  const isCurrent = data?.is_current === true
  return (
    <section className="stack">
      {props.link ? <h3>{texts.space}</h3> : <h2>{texts.spaceWhat}</h2>}
      {data === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {data !== undefined && total === undefined && <p className="muted">{texts.spaceCounting}</p>}
      {total !== undefined && (
        <>
          <SpaceParts bytes={{ current, history, trash, unreferenced }} />
          {!props.link && (
            <SpaceNotes
              fileSize={isCurrent ? props.fileSize : undefined}
              current={current}
              shared={shared}
              unreferenced={unreferenced}
            />
          )}
          {at !== undefined && (
            <p className="muted">
              {isCurrent ? texts.spaceCounted(formats.moment(at)) : texts.spaceStale(formats.moment(at))}
            </p>
          )}
        </>
      )}
      {props.link && <Link to={storageUrl(props.libraryId)}>{texts.spaceWhat}</Link>}
    </section>
  )
}
