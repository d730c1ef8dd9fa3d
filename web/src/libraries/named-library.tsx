import { useFormats } from '../texts/index.ts'
import { LibraryIcon } from './library-row.tsx'

/** Shows the library that a dialog is about. */
export function NamedLibrary(props: { name: string; encrypted: boolean; size: number; lead: string }) {
  const formats = useFormats()
  return (
    <div className="stack libraries-asked">
      <p>{props.lead}</p>
      <p className="card libraries-named">
        <LibraryIcon encrypted={props.encrypted} />
        <bdi className="libraries-named-name">{props.name}</bdi>
        <span className="muted">{formats.size(props.size)}</span>
      </p>
    </div>
  )
}
