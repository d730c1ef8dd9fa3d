import { useLibraryUsage } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { LoadError, Waiting } from '../ui/index.ts'

/** Storage of a library by purpose. */
export function UsageList(props: { libraryId: string }) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const { data, error, refetch } = useLibraryUsage(props.libraryId)
  const { current = 0, history = 0, trash = 0, unreferenced = 0, total } = data ?? {}
  const parts = [
    { label: texts.spaceCurrent, bytes: current, kind: 'current' },
    { label: texts.spaceHistory, bytes: history, kind: 'history' },
    { label: texts.spaceTrash, bytes: trash, kind: 'trash' },
    { label: texts.spaceUnreferenced, bytes: unreferenced, kind: 'unreferenced' },
  ]
  return (
    <section className="stack">
      <h3>{texts.space}</h3>
      {data === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {data !== undefined && total === undefined && <p className="muted">{texts.spaceCounting}</p>}
      {total !== undefined && (
        <>
          <div className="libraries-usage-bar" aria-hidden>
            {parts
              .filter(({ bytes }) => bytes > 0)
              .map(({ kind, bytes }) => (
                <span key={kind} className={`libraries-usage-${kind}`} style={{ flexGrow: bytes / total }} />
              ))}
          </div>
          <dl className="libraries-usage">
            {parts.map(({ label, bytes, kind }) => (
              <div key={kind}>
                <dt>
                  <span className={`libraries-usage-dot libraries-usage-${kind}`} />
                  {label}
                </dt>
                <dd>{formats.size(bytes)}</dd>
              </div>
            ))}
            <div className="libraries-usage-total">
              <dt>{texts.spaceTotal}</dt>
              <dd>{formats.size(total)}</dd>
            </div>
          </dl>
        </>
      )}
    </section>
  )
}
