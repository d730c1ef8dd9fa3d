import { useFormats, useTexts } from '../texts/index.ts'

/** Stored bytes by purpose. */
interface SpaceBytes {
  readonly current: number
  readonly history: number
  readonly trash: number
  readonly unreferenced: number
  /** Of deleted libraries. */
  readonly deleted?: number
}

/** What takes up space, as a bar and as numbers. */
export function SpaceParts({ bytes }: { bytes: SpaceBytes }) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const parts = [
    { label: texts.spaceCurrent, bytes: bytes.current, kind: 'current' },
    { label: texts.spaceHistory, bytes: bytes.history, kind: 'history' },
    { label: texts.spaceTrash, bytes: bytes.trash, kind: 'trash' },
    ...(bytes.deleted === undefined
      ? []
      : [{ label: texts.deletedTitle, bytes: bytes.deleted, kind: 'deleted' }]),
    { label: texts.spaceUnreferenced, bytes: bytes.unreferenced, kind: 'unreferenced' },
  ]
  const total = parts.reduce((sum, part) => sum + part.bytes, 0)
  return (
    <>
      <div className="libraries-usage-bar" aria-hidden>
        {parts
          .filter((part) => part.bytes > 0)
          .map((part) => (
            <span
              key={part.kind}
              className={`libraries-usage-${part.kind}`}
              style={{ flexGrow: part.bytes / total }}
            />
          ))}
      </div>
      <dl className="libraries-usage">
        {parts.map(({ label, bytes: size, kind }) => (
          <div key={kind}>
            <dt>
              <span className={`libraries-usage-dot libraries-usage-${kind}`} />
              {label}
            </dt>
            <dd>{formats.size(size)}</dd>
          </div>
        ))}
        <div className="libraries-usage-total">
          <dt>{texts.spaceTotal}</dt>
          <dd>{formats.size(total)}</dd>
        </div>
      </dl>
    </>
  )
}

/** What equal content saves, and what other libraries have, too. `fileSize` counts each file in full. */
export function SpaceNotes(props: {
  fileSize: number | undefined
  current: number
  shared: number
  unreferenced: number
}) {
  const { fileSize = 0, current, shared, unreferenced } = props
  const texts = useTexts('libraries')
  const formats = useFormats()
  const notes = [
    fileSize > current && texts.spaceSaved(formats.size(fileSize - current)),
    shared > 0 && texts.spaceShared(formats.size(shared)),
    unreferenced > 0 && texts.freeItself(formats.size(unreferenced)),
  ].filter((note) => note !== false)
  return notes.map((note) => (
    <p key={note} className="muted">
      {note}
    </p>
  ))
}
