/** The few icons that Quasar's own components ask for by name, drawn so that no icon font is needed. */
const PATHS: Record<string, string> = {
  arrow_drop_down: 'M7 10l5 5 5-5z',
  check: 'M9 16.2 4.8 12l-1.4 1.4L9 19 21 7l-1.4-1.4z',
  close: 'M19 6.4 17.6 5 12 10.6 6.4 5 5 6.4 10.6 12 5 17.6 6.4 19 12 13.4 17.6 19 19 17.6 13.4 12z',
  cancel:
    'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm5 13.6L15.6 17 12 13.4 8.4 17 7 15.6 10.6 12 7 8.4 8.4 7 12 10.6 15.6 7 17 8.4 13.4 12z',
  keyboard_arrow_down: 'M7.4 8.6 12 13.2l4.6-4.6L18 10l-6 6-6-6z',
  chevron_right: 'M10 6 8.6 7.4 13.2 12l-4.6 4.6L10 18l6-6z',
  chevron_left: 'M15.4 7.4 14 6l-6 6 6 6 1.4-1.4L10.8 12z',
}

export const getQuasarIcon = (name: string): { icon: string } | undefined => {
  const path = PATHS[name]
  return path ? { icon: path } : undefined
}
