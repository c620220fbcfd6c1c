-- Limits of a query. With one thread, rows without an order come in the same order each time.
SET temp_directory = '';
SET threads = 1;
SET python_enable_replacements = false;
SET autoinstall_known_extensions = false;
SET autoload_known_extensions = false;
SET enable_external_access = false;
SET lock_configuration = true;
