// Whoever comes from another site brings no cookie at first, though logged in: ask from here, and go on.
const wanted = document.querySelector('input[name=next]').value
if (!document.querySelector('[role=alert]') && !document.querySelector('input[name=code]').value)
  fetch('/', { redirect: 'manual' }).then((answer) => answer.ok && location.replace(wanted))
