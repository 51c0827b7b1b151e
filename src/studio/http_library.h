// The functions of libmicrohttpd that the studio uses. With LIMN_HTTP_LIBRARY, the file name of the
// library, limn is not linked with it: http_library_open opens it, and only the studio waits for
// that.
#ifndef LIMN_STUDIO_HTTP_LIBRARY_H
#define LIMN_STUDIO_HTTP_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

bool http_library_open(void); // false: the reason was printed

#ifdef LIMN_HTTP_LIBRARY
#define HTTP_FUNCTIONS(F)                                                                          \
  F(add_response_header)                                                                           \
  F(create_response_from_buffer)                                                                   \
  F(create_response_from_callback)                                                                 \
  F(destroy_response)                                                                              \
  F(get_connection_info)                                                                           \
  F(get_connection_values)                                                                         \
  F(lookup_connection_value)                                                                       \
  F(lookup_connection_value_n)                                                                     \
  F(queue_response)                                                                                \
  F(resume_connection)                                                                             \
  F(start_daemon)                                                                                  \
  F(stop_daemon)                                                                                   \
  F(suspend_connection)

#define FUNCTION(name) __typeof__(MHD_##name) *name;
typedef struct {
  HTTP_FUNCTIONS(FUNCTION)
} HttpLibrary;
#undef FUNCTION
extern HttpLibrary http_library;

#define MHD_add_response_header http_library.add_response_header
#define MHD_create_response_from_buffer http_library.create_response_from_buffer
#define MHD_create_response_from_callback http_library.create_response_from_callback
#define MHD_destroy_response http_library.destroy_response
#define MHD_get_connection_info http_library.get_connection_info
#define MHD_get_connection_values http_library.get_connection_values
#define MHD_lookup_connection_value http_library.lookup_connection_value
#define MHD_lookup_connection_value_n http_library.lookup_connection_value_n
#define MHD_queue_response http_library.queue_response
#define MHD_resume_connection http_library.resume_connection
#define MHD_start_daemon http_library.start_daemon
#define MHD_stop_daemon http_library.stop_daemon
#define MHD_suspend_connection http_library.suspend_connection
#endif

#endif
