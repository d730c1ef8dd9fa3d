export { DialogPanel } from './dialog-panel.tsx'
export { MenuPanel } from './menu-panel.tsx'
export { PopoverPanel } from './popover-panel.tsx'
