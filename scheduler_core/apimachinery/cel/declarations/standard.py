"""What CEL's standard library declares. How a line is read: declarations/reading.py.

kube: vendor/github.com/google/cel-go/common/stdlib/standard.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

OPERATORS = """
!_(bool) bool = logical_not SU
-_(double) double = negate_double SU
-_(int) int = negate_int64 SU
@in(A, list(A)) bool = in_list SB
@in(A, map(A, B)) bool = in_map SB
@not_strictly_false(bool) bool = not_strictly_false U
_!=_(A, A) bool = not_equals SB
_%_(int, int) int = modulo_int64 SB
_%_(uint, uint) uint = modulo_uint64 SB
_&&_(bool, bool) bool = logical_and SB
_*_(double, double) double = multiply_double SB
_*_(int, int) int = multiply_int64 SB
_*_(uint, uint) uint = multiply_uint64 SB
_+_(bytes, bytes) bytes = add_bytes SB
_+_(double, double) double = add_double SB
_+_(duration, duration) duration = add_duration_duration SB
_+_(duration, timestamp) timestamp = add_duration_timestamp SB
_+_(timestamp, duration) timestamp = add_timestamp_duration SB
_+_(int, int) int = add_int64 SB
_+_(list(A), list(A)) list(A) = add_list SB
_+_(string, string) string = add_string SB
_+_(uint, uint) uint = add_uint64 SB
_-_(double, double) double = subtract_double SB
_-_(duration, duration) duration = subtract_duration_duration SB
_-_(int, int) int = subtract_int64 SB
_-_(timestamp, duration) timestamp = subtract_timestamp_duration SB
_-_(timestamp, timestamp) duration = subtract_timestamp_timestamp SB
_-_(uint, uint) uint = subtract_uint64 SB
_/_(double, double) double = divide_double SB
_/_(int, int) int = divide_int64 SB
_/_(uint, uint) uint = divide_uint64 SB
_<=_(bool, bool) bool = less_equals_bool SB
_<=_(int, int) bool = less_equals_int64 SB
_<=_(int, double) bool = less_equals_int64_double SB
_<=_(int, uint) bool = less_equals_int64_uint64 SB
_<=_(uint, uint) bool = less_equals_uint64 SB
_<=_(uint, double) bool = less_equals_uint64_double SB
_<=_(uint, int) bool = less_equals_uint64_int64 SB
_<=_(double, double) bool = less_equals_double SB
_<=_(double, int) bool = less_equals_double_int64 SB
_<=_(double, uint) bool = less_equals_double_uint64 SB
_<=_(string, string) bool = less_equals_string SB
_<=_(bytes, bytes) bool = less_equals_bytes SB
_<=_(timestamp, timestamp) bool = less_equals_timestamp SB
_<=_(duration, duration) bool = less_equals_duration SB
_<_(bool, bool) bool = less_bool SB
_<_(int, int) bool = less_int64 SB
_<_(int, double) bool = less_int64_double SB
_<_(int, uint) bool = less_int64_uint64 SB
_<_(uint, uint) bool = less_uint64 SB
_<_(uint, double) bool = less_uint64_double SB
_<_(uint, int) bool = less_uint64_int64 SB
_<_(double, double) bool = less_double SB
_<_(double, int) bool = less_double_int64 SB
_<_(double, uint) bool = less_double_uint64 SB
_<_(string, string) bool = less_string SB
_<_(bytes, bytes) bool = less_bytes SB
_<_(timestamp, timestamp) bool = less_timestamp SB
_<_(duration, duration) bool = less_duration SB
_==_(A, A) bool = equals SB
_>=_(bool, bool) bool = greater_equals_bool SB
_>=_(int, int) bool = greater_equals_int64 SB
_>=_(int, double) bool = greater_equals_int64_double SB
_>=_(int, uint) bool = greater_equals_int64_uint64 SB
_>=_(uint, uint) bool = greater_equals_uint64 SB
_>=_(uint, double) bool = greater_equals_uint64_double SB
_>=_(uint, int) bool = greater_equals_uint64_int64 SB
_>=_(double, double) bool = greater_equals_double SB
_>=_(double, int) bool = greater_equals_double_int64 SB
_>=_(double, uint) bool = greater_equals_double_uint64 SB
_>=_(string, string) bool = greater_equals_string SB
_>=_(bytes, bytes) bool = greater_equals_bytes SB
_>=_(timestamp, timestamp) bool = greater_equals_timestamp SB
_>=_(duration, duration) bool = greater_equals_duration SB
_>_(bool, bool) bool = greater_bool SB
_>_(int, int) bool = greater_int64 SB
_>_(int, double) bool = greater_int64_double SB
_>_(int, uint) bool = greater_int64_uint64 SB
_>_(uint, uint) bool = greater_uint64 SB
_>_(uint, double) bool = greater_uint64_double SB
_>_(uint, int) bool = greater_uint64_int64 SB
_>_(double, double) bool = greater_double SB
_>_(double, int) bool = greater_double_int64 SB
_>_(double, uint) bool = greater_double_uint64 SB
_>_(string, string) bool = greater_string SB
_>_(bytes, bytes) bool = greater_bytes SB
_>_(timestamp, timestamp) bool = greater_timestamp SB
_>_(duration, duration) bool = greater_duration SB
_?._(dyn, string) optional_type(V) = select_optional_field
_?_:_(bool, A, A) A = conditional SF
_[?_](list(V), int) optional_type(V) = list_optindex_optional_int
_[?_](optional_type(list(V)), int) optional_type(V) = optional_list_optindex_optional_int
_[?_](map(K, V), K) optional_type(V) = map_optindex_optional_value
_[?_](optional_type(map(K, V)), K) optional_type(V) = optional_map_optindex_optional_value
_[_](list(A), int) A = index_list SB
_[_](map(A, B), A) B = index_map SB
_[_](optional_type(list(V)), int) optional_type(V) = optional_list_index_int SB
_[_](optional_type(map(K, V)), K) optional_type(V) = optional_map_index_value SB
_||_(bool, bool) bool = logical_or SB
"""

CONVERSIONS = """
bool(bool) bool = bool_to_bool U
bool(string) bool = string_to_bool U
bytes(bytes) bytes = bytes_to_bytes U
bytes(string) bytes = string_to_bytes U
double(double) double = double_to_double U
double(int) double = int64_to_double U
double(string) double = string_to_double U
double(uint) double = uint64_to_double U
duration(duration) duration = duration_to_duration U
duration(int) duration = int64_to_duration U
duration(string) duration = string_to_duration U
dyn(A) dyn = to_dyn SU
int(int) int = int64_to_int64 U
int(double) int = double_to_int64 U
int(duration) int = duration_to_int64 U
int(string) int = string_to_int64 U
int(timestamp) int = timestamp_to_int64 U
int(uint) int = uint64_to_int64 U
string(string) string = string_to_string U
string(bool) string = bool_to_string U
string(bytes) string = bytes_to_string U
string(double) string = double_to_string U
string(duration) string = duration_to_string U
string(int) string = int64_to_string U
string(timestamp) string = timestamp_to_string U
string(uint) string = uint64_to_string U
timestamp(timestamp) timestamp = timestamp_to_timestamp U
timestamp(int) timestamp = int64_to_timestamp U
timestamp(string) timestamp = string_to_timestamp U
type(A) type(A) = type SU
uint(uint) uint = uint64_to_uint64 U
uint(double) uint = double_to_uint64 U
uint(int) uint = int64_to_uint64 U
uint(string) uint = string_to_uint64 U
"""

MEMBERS = """
string.contains(string) bool = contains_string B!
string.endsWith(string) bool = ends_with_string B!
timestamp.getDate() int = timestamp_to_day_of_month_1_based U
timestamp.getDate(string) int = timestamp_to_day_of_month_1_based_with_tz B
timestamp.getDayOfMonth() int = timestamp_to_day_of_month U
timestamp.getDayOfMonth(string) int = timestamp_to_day_of_month_with_tz B
timestamp.getDayOfWeek() int = timestamp_to_day_of_week U
timestamp.getDayOfWeek(string) int = timestamp_to_day_of_week_with_tz B
timestamp.getDayOfYear() int = timestamp_to_day_of_year U
timestamp.getDayOfYear(string) int = timestamp_to_day_of_year_with_tz B
timestamp.getFullYear() int = timestamp_to_year U
timestamp.getFullYear(string) int = timestamp_to_year_with_tz B
timestamp.getHours() int = timestamp_to_hours U
timestamp.getHours(string) int = timestamp_to_hours_with_tz B
duration.getHours() int = duration_to_hours U
timestamp.getMilliseconds() int = timestamp_to_milliseconds U
timestamp.getMilliseconds(string) int = timestamp_to_milliseconds_with_tz B
duration.getMilliseconds() int = duration_to_milliseconds U
timestamp.getMinutes() int = timestamp_to_minutes U
timestamp.getMinutes(string) int = timestamp_to_minutes_with_tz B
duration.getMinutes() int = duration_to_minutes U
timestamp.getMonth() int = timestamp_to_month U
timestamp.getMonth(string) int = timestamp_to_month_with_tz B
timestamp.getSeconds() int = timestamp_to_seconds U
timestamp.getSeconds(string) int = timestamp_to_seconds_tz B
duration.getSeconds() int = duration_to_seconds U
matches(string, string) bool = matches SB
string.matches(string) bool = matches_string SB
size(bytes) int = size_bytes SU
bytes.size() int = bytes_size SU
size(list(A)) int = size_list SU
list(A).size() int = list_size SU
size(map(A, B)) int = size_map SU
map(A, B).size() int = map_size SU
size(string) int = size_string SU
string.size() int = string_size SU
string.startsWith(string) bool = starts_with_string B!
"""
