import { Tabs } from 'radix-ui'
import { useEffect, useRef } from 'react'

/** Tab headers. The current one is scrolled into view. */
export function TabList<Name extends string>(props: {
  label: string
  names: readonly Name[]
  labels: Readonly<Record<Name, string>>
  current: Name
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const open = list.current?.querySelector(`[data-name="${props.current}"]`)
    open?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [props.current])
  return (
    <Tabs.List ref={list} className="tabs" aria-label={props.label}>
      {props.names.map((name) => (
        <Tabs.Trigger key={name} value={name} data-name={name} className="tab">
          {props.labels[name]}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  )
}
